//! Who judges submitted work before it goes to trunk, and what a person says about it.

use serde::{Deserialize, Serialize};

use crate::ids::Oid;
use crate::reservation::Isolation;

/// Who says that submitted work is good; a later one is stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Reviewer {
    /// Checks and verification are enough.
    #[default]
    None,
    /// `review.commands`, in the task's worktree.
    Command,
    /// An agent that only reads: `review.profile`. A person may be quicker, and their word counts.
    Agent,
    /// Several agents, each for itself: `review.council`. A person's word counts here too.
    Council,
    /// A person: `swarm review approve`, `swarm review needs-changes`.
    Human,
}

impl Reviewer {
    pub const ALL: [Self; 5] = [Self::None, Self::Command, Self::Agent, Self::Council, Self::Human];

    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Command => "command",
            Self::Agent => "agent",
            Self::Council => "council",
            Self::Human => "human",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reviewer| reviewer.word() == word)
    }
}

/// Why a word cannot stand as the reviewer of a task.
pub fn check_reviewer(word: &str) -> Result<(), String> {
    let known = Reviewer::ALL.map(Reviewer::word).join(", ");
    Reviewer::of_word(word).map(drop).ok_or_else(|| format!("{word:?} is not a reviewer; known are {known}"))
}

/// Why a word cannot stand as the isolation of a task.
pub fn check_isolation(word: &str) -> Result<(), String> {
    let known = Isolation::ALL.map(Isolation::word).join(", ");
    Isolation::of_word(word)
        .map(drop)
        .ok_or_else(|| format!("{word:?} is not an isolation; known are {known}"))
}

/// What a person thinks of submitted work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// This commit may go to trunk. Another one that was submitted meanwhile may not, nor what the branch is changed to later.
    /// `left_out`: the branch is there already, and that is not to be merged.
    Approve {
        tip: Oid,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<Oid>,
    },
    /// The next attempt gets these notes.
    NeedsChanges { notes: Vec<ReviewNote> },
}

/// What is to be changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewNote {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub text: String,
}

impl std::fmt::Display for ReviewNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: {}", self.text),
            (Some(file), None) => write!(f, "{file}: {}", self.text),
            (None, _) => f.write_str(&self.text),
        }
    }
}
