//! Arguments of tools that change the plan and the tasks in it.

use schemars::JsonSchema;
use serde::Deserialize;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::outcome::Gate;
use swarm_protocol::plan::{Size, Status};

use crate::arguments::{gate, plan, size, status};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SavePlanArgs {
    /// The whole plan: tasks are added, changed, moved and removed to match it. Statuses in it are not looked at
    #[schemars(schema_with = "plan")]
    pub plan: serde_json::Value,
    /// Reset every task to pending first, and unlock the execution profile
    #[serde(default)]
    pub reset_statuses: bool,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
    /// pending (back to the queue), active (may start), blocked, deferred or cancelled
    #[schemars(schema_with = "status")]
    pub status: Status,
    /// Why; needed for blocked
    pub reason: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseArgs {
    /// Number of the phase; all its tasks must be done or cancelled
    pub phase: u32,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EditDo {
    /// Add a task: title, and `task` for an id of its own
    Add,
    /// Change the members that are given
    Edit,
    /// Put it behind `after`, or first, in `phase`
    Move,
    Remove,
    /// Replace it by `parts`
    Split,
    /// Let it pass `gate` without it, with a reason
    Waive,
    /// Take it for done as it is, with a reason
    Accept,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditArgs {
    #[serde(rename = "do")]
    pub deed: EditDo,
    /// Task id, like 1.2; may be left out for add
    #[schemars(with = "Option<String>")]
    pub task: Option<TaskId>,
    pub title: Option<String>,
    pub description: Option<String>,
    /// Tasks that must be done first
    #[schemars(with = "Option<Vec<String>>")]
    pub depends: Option<Vec<TaskId>>,
    pub acceptance: Option<Vec<String>>,
    /// Globs of the files to change
    pub files: Option<Vec<String>>,
    /// Globs of files that nobody else changes while it is worked on
    pub reserve: Option<Vec<String>>,
    /// Globs of files that others may share, and nobody may reserve meanwhile
    pub share: Option<Vec<String>>,
    pub tags: Option<Vec<String>>,
    #[schemars(schema_with = "size")]
    #[serde(default)]
    pub size: Option<Size>,
    /// 0 (most urgent) to 4
    pub priority: Option<u8>,
    /// Profile of its agent
    pub profile: Option<String>,
    /// Who reviews it: none, command, agent, council or human
    pub review: Option<String>,
    pub allow_empty: Option<bool>,
    /// For add and move
    pub phase: Option<u32>,
    /// For add and move: the task before it
    #[schemars(with = "Option<String>")]
    pub after: Option<TaskId>,
    /// For split: tasks as in a plan, with id and title
    #[serde(default)]
    pub parts: Vec<serde_json::Value>,
    /// For waive
    #[schemars(schema_with = "gate")]
    #[serde(default)]
    pub gate: Option<Gate>,
    /// For waive and accept
    pub reason: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanDo {
    /// Agree to the plan as it is
    Approve,
    /// Set the execution profile
    Profile,
    /// Lock the execution profile
    Lock,
    /// Every task back to pending; needs `expect`
    Reset,
    /// End the plan and archive its ledger; needs `expect`
    Close,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanArgs {
    #[serde(rename = "do")]
    pub deed: PlanDo,
    /// For profile
    pub parallelization_enabled: Option<bool>,
    /// For profile: 1 to 64
    pub max_concurrent_tasks: Option<u32>,
    /// For profile
    pub council_parallel: Option<bool>,
    /// For close: stop agents at work first
    #[serde(default)]
    pub stop: bool,
    /// For reset and close: what the preview answered
    pub expect: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}
