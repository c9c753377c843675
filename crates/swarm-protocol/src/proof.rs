//! What proves that a task is done.

use serde::{Deserialize, Serialize};

use crate::ids::Oid;

/// Proof that a task's work is on trunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proof {
    pub trunk: String,
    /// The trunk commit that was published, or where its work stands since somebody rewrote it.
    pub commit: Oid,
    /// The task's commits as they stand on trunk, oldest first.
    pub commits: Vec<Oid>,
    /// Commits of the task's own branch whose changes trunk had already when they were to be merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Oid>,
    /// The commits as they were merged, where somebody has rewritten them since (amended, rebased, picked).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Oid>,
    /// A person takes the task for done although its work is not on trunk, or there is none: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl Proof {
    /// Of these commits on trunk.
    pub fn new(trunk: impl Into<String>, commit: Oid, commits: Vec<Oid>) -> Self {
        Self { trunk: trunk.into(), commit, commits, found: vec![], made: vec![], accepted: None }
    }

    /// The commits that the swarm put on trunk, whatever they are called there now.
    pub fn own(&self) -> &[Oid] {
        if self.made.is_empty() { &self.commits } else { &self.made }
    }

    /// The same proof, with its work where it stands now; none: under the names it was merged with.
    pub fn standing(&self, now: Option<&Standing>) -> Self {
        let own = self.own().to_vec();
        match now {
            Some(Standing { commit, commits }) => Self {
                commit: commit.clone(),
                commits: commits.clone(),
                made: if *commits == own { vec![] } else { own },
                ..self.clone()
            },
            None if self.made.is_empty() => self.clone(),
            None => Self {
                commit: own.last().cloned().unwrap_or_else(|| self.commit.clone()),
                commits: own,
                made: vec![],
                ..self.clone()
            },
        }
    }
}

/// Where the work of a task stands on trunk under other names than it was merged with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The newest commit that has all of it.
    pub commit: Oid,
    /// One for each commit that brought something, oldest first.
    pub commits: Vec<Oid>,
}
