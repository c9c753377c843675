//! Arguments of tools that only look.

use schemars::JsonSchema;
use serde::Deserialize;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::plan::Status;

use super::status;

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtArgs {
    /// Record of the ledger to look at (default: now)
    pub at: Option<u64>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
    /// Record of the ledger to look at (default: now)
    pub at: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TasksArgs {
    /// Only tasks with this status
    #[schemars(schema_with = "status")]
    #[serde(default)]
    pub status: Option<Status>,
    /// Only tasks with this tag
    pub tag: Option<String>,
    /// Only tasks whose id or title contains this text
    pub text: Option<String>,
    /// Go on behind this task: the `next` of an earlier answer
    #[schemars(with = "Option<String>")]
    pub after: Option<TaskId>,
    /// Tasks in one answer, up to 200 (default: 50)
    pub limit: Option<usize>,
    /// Record of the ledger to look at (default: now)
    pub at: Option<u64>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
    /// Only files whose path contains this text
    pub file: Option<String>,
    /// Go on at this byte: the `cursor` of an earlier answer
    pub cursor: Option<usize>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogArgs {
    /// Task (1.2), agent (ed-001) or run (r17); of a task or an agent, the newest run
    pub run: String,
    /// Byte to begin at: the `cursor` of an earlier answer (default: 0)
    pub from: Option<u64>,
    /// Only lines that contain this text
    #[serde(rename = "match")]
    pub contains: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryArgs {
    /// Record to begin at (default: the last ones)
    pub from: Option<u64>,
    /// Only records about this task
    #[schemars(with = "Option<String>")]
    pub task: Option<TaskId>,
    /// Records in one answer, up to 200 (default: 50)
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Anything is recorded
    #[default]
    Change,
    /// Something new waits for a person
    Attention,
    /// The status of `task` changes
    Task,
    /// The operation `operation` ends
    Operation,
    /// Nobody works, and nothing is checked, reviewed or merged
    Idle,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitArgs {
    /// The `seq` of an earlier answer: what happened since counts (default: now)
    pub from: Option<u64>,
    /// What to wait for (default: change)
    #[serde(default)]
    pub until: Until,
    /// With until: task
    #[schemars(with = "Option<String>")]
    pub task: Option<TaskId>,
    /// With until: operation
    #[schemars(with = "Option<String>")]
    pub operation: Option<CommandId>,
    /// At most this long, up to 20 (default: 15)
    pub seconds: Option<u64>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewArgs {
    /// Tool whose call is looked at, like swarm_stop
    pub tool: String,
    /// The arguments that it would get
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
}
