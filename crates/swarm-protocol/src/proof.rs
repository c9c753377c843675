//! What proves that a task is done.

use serde::{Deserialize, Serialize};

use crate::ids::Oid;

/// Proof that a task's work is on trunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Proof {
    pub trunk: String,
    /// The trunk commit that was published.
    pub commit: Oid,
    /// The task's commits as they stand on trunk, oldest first.
    pub commits: Vec<Oid>,
    /// Commits of the task's own branch whose changes trunk had already when they were to be merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Oid>,
    /// A person takes the task for done although its work is not on trunk, or there is none: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl Proof {
    /// Of these commits on trunk.
    pub fn new(trunk: impl Into<String>, commit: Oid, commits: Vec<Oid>) -> Self {
        Self { trunk: trunk.into(), commit, commits, found: vec![], accepted: None }
    }
}
