//! How far a plan came and what it cost, from its beginning to now.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Usage;
use crate::time::Timestamp;

/// How things stood at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MomentView {
    pub at: Timestamp,
    /// Tasks that were still to be done.
    pub open: u64,
    pub done: u64,
    /// Agents at work.
    #[serde(default)]
    pub agents: u64,
    /// All that was spent up to then.
    #[serde(flatten)]
    pub usage: Usage,
}

/// At most a few hundred moments, oldest first: those at which something changed, nearer to one another where less time has passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OverTimeView {
    pub moments: Vec<MomentView>,
    /// What all of it was spent on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostsView>,
}

/// The same money three times: by what became of the work, by task and by agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostsView {
    pub outcome: Vec<CostRow>,
    pub task: Vec<CostRow>,
    pub agent: Vec<CostRow>,
}

/// One sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostRow {
    /// A task, an agent, an outcome or a day (UTC).
    pub name: String,
    /// Attempts, or for a day those that anything was spent on.
    pub attempts: u64,
    #[serde(flatten)]
    pub usage: Usage,
}
