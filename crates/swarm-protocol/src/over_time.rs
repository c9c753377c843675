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
    /// All that was spent up to then.
    #[serde(flatten)]
    pub usage: Usage,
}

/// At most a few hundred moments, oldest first: those at which something changed, nearer to one another where less time has passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OverTimeView {
    pub moments: Vec<MomentView>,
}
