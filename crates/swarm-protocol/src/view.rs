//! What the front ends show. Made from the state by `swarm-core`'s `show`, printed unchanged by `--json`.

mod status;
mod task;
mod review;

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::plan::ExecutionProfile;

pub use review::{MemberView, ReviewView, WorkView};
pub use status::{
    AgentView, ApprovalView, AttentionView, BudgetView, ConflictView, ConflictsWith, Counts, DegradedView,
    NextView, PhaseView, QuotaView, ReservationView, StatusView,
};
pub use task::{AuditView, LandedView, MessageView, TaskRow, TaskView};

/// What it means that agents of these profiles run without walls, for every screen; none where there are walls.
pub fn without_walls(profiles: &[String]) -> Option<String> {
    let named = profiles.join(", ");
    let sentence =
        format!("Agents of {named} run without walls (`sandbox: none`): they can do whatever you can");
    (!profiles.is_empty()).then_some(sentence)
}

/// The ways on after an abort or a failure, as commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetryOptions {
    /// What is done stays; what failed is tried again, what has gone is merged again.
    pub same_plan: String,
    /// The plan is edited first.
    pub edit_plan: String,
    /// This plan is archived, and another one begun from trunk as it is.
    pub fresh_start: String,
}

/// What a fresh agent or person needs to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandoffView {
    pub seq: u64,
    pub goal: String,
    pub phase: Option<PhaseView>,
    pub execution_profile: ExecutionProfile,
    pub open: Vec<TaskRow>,
    pub pending_reviews: Vec<TaskRow>,
    pub decisions: Vec<AuditView>,
    pub attention: Vec<AttentionView>,
    /// Work that will conflict where it meets, as far as that is known by now. Each pair once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictView>,
    /// What is not named here, so that the whole can be read at once, and the commands that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<MoreView>,
    pub approved: ApprovalView,
}

/// Entries that a summary leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoreView {
    pub what: String,
    pub count: usize,
    pub command: String,
}

/// `get_approved_plan`: the plan a person agreed to, and whether it has drifted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovedPlanView {
    pub approved: bool,
    pub drifted: bool,
    pub structure_hash: String,
    pub approved_hash: Option<String>,
    pub execution_profile: ExecutionProfile,
    /// The structure as it was approved.
    pub plan: Option<serde_json::Value>,
}

/// The swarm's budget and those of its open tasks, where bounds are set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swarm: Option<BudgetView>,
    pub tasks: Vec<TaskBudget>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskBudget {
    pub task: TaskId,
    #[serde(flatten)]
    pub budget: BudgetView,
}
