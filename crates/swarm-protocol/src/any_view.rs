//! All views that can be asked for, as one type: what the coordinator hands to whoever serves them.

use serde::Serialize;

use crate::api::AgentNow;
use crate::board::{AllowedView, BoardView, Choice};
use crate::oplog::{CheckpointView, HookView, OperationView};
use crate::plan::PlanFile;
use crate::view::{ApprovedPlanView, AttentionView, HandoffView, ReviewView, StatusView, TaskRow, TaskView};

/// Any of the views.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnyView {
    Status(StatusView),
    Board(Box<BoardView>),
    Allowed(Vec<AllowedView>),
    Choices(Vec<Choice>),
    Tasks(Vec<TaskRow>),
    Task(TaskView),
    Agents(Vec<AgentNow>),
    Attention(Vec<AttentionView>),
    Plan(PlanFile),
    ApprovedPlan(ApprovedPlanView),
    Handoff(HandoffView),
    Operations(Vec<OperationView>),
    Operation(OperationView),
    Checkpoints(Vec<CheckpointView>),
    Hooks(Vec<HookView>),
    Reviews(Vec<ReviewView>),
}
