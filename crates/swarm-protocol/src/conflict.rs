//! How work that conflicted with trunk came to be merged all the same.

use serde::{Deserialize, Serialize};

/// One file that conflicted, and what resolved it. A file may be named more than once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolved {
    pub path: String,
    pub way: Way,
}

/// What resolved a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// One side changed white space only: the other side was taken.
    Whitespace,
    /// Both sides added or removed imports: all that are wanted are there, each once.
    Imports,
    /// Both sides added the same lines.
    SameLines,
    /// A command of the project made the file again.
    Regenerated,
    /// The task's commits conflict as a whole, but not one after the other.
    CommitByCommit,
    /// The task's commits conflict one after the other, but not as a whole.
    AsAWhole,
    /// An agent was asked.
    ByAgent,
}

impl Way {
    /// The rung of the ladder: 1 is a rule that decides about lines, 2 another way to put the same commits together, 3 an agent.
    /// Trunk has what was reviewed only where no rule was needed.
    pub fn level(self) -> u32 {
        match self {
            Self::Whitespace | Self::Imports | Self::SameLines | Self::Regenerated => 1,
            Self::CommitByCommit | Self::AsAWhole => 2,
            Self::ByAgent => 3,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Whitespace => "white space",
            Self::Imports => "imports",
            Self::SameLines => "same lines",
            Self::Regenerated => "made again",
            Self::CommitByCommit => "commit by commit",
            Self::AsAWhole => "as a whole",
            Self::ByAgent => "by an agent",
        }
    }
}

/// Whether a rule decided about lines of any of them.
pub fn by_rule(resolved: &[Resolved]) -> bool {
    resolved.iter().any(|one| one.way.level() == 1)
}

/// The level that they were resolved on; none: nothing conflicted.
pub fn level(resolved: &[Resolved]) -> Option<u32> {
    let by_rule = by_rule(resolved).then_some(1);
    by_rule.or_else(|| resolved.iter().map(|one| one.way.level()).max())
}

/// `src/a.rs (imports), b.txt (white space) and 2 more`
pub fn shown(resolved: &[Resolved]) -> String {
    const SHOWN: usize = 3;
    let one = |one: &Resolved| format!("{} ({})", one.path, one.way.word());
    let words: Vec<String> = resolved.iter().take(SHOWN).map(one).collect();
    match resolved.len().saturating_sub(SHOWN) {
        0 => words.join(", "),
        more => format!("{} and {more} more", words.join(", ")),
    }
}
