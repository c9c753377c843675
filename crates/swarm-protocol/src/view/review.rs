//! Submitted work, who says what about it, and where it can be looked at.

use serde::{Deserialize, Serialize};

use crate::council::Voice;
use crate::ids::{Oid, TaskId};
use crate::review::{ReviewNote, Reviewer};
use crate::time::Timestamp;

/// Submitted work that is or waits to be reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewView {
    pub task: TaskId,
    pub title: String,
    pub reviewer: Reviewer,
    /// Which time it is submitted, from 1.
    pub round: u32,
    /// Rounds before the task is blocked.
    pub rounds: u32,
    /// The commit that the verdict is about.
    pub submitted: Oid,
    pub tree: Oid,
    /// Where the task began.
    pub base: Option<Oid>,
    pub branch: String,
    pub since: Timestamp,
    /// In words: who it waits for.
    pub stage: String,
    /// Of a council: who says what about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub council: Vec<MemberView>,
    /// Protected files that it changes: why a person is asked, whoever else reviews.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    pub commands: Vec<String>,
}

/// A member of the council and what it says about submitted work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberView {
    pub member: String,
    pub profile: String,
    /// None: it has not spoken.
    pub voice: Option<Voice>,
    pub said: String,
    pub notes: Vec<ReviewNote>,
}

/// Where the work of a task can be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkView {
    /// Commits on trunk, oldest first.
    OnTrunk {
        commits: Vec<Oid>,
    },
    Submitted {
        base: Oid,
        tip: Oid,
    },
    /// Not finished: the branch moves on.
    OnBranch {
        base: Oid,
        branch: String,
    },
}
