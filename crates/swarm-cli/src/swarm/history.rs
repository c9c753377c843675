//! Records of the ledger as rows for people.

use serde_json::value::RawValue;
use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;

/// One record.
#[derive(Debug)]
pub struct HistoryRow {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: String,
    pub task: Option<TaskId>,
    pub by: String,
    pub text: String,
    /// The line of the ledger itself.
    pub record: Box<RawValue>,
}
