//! A task: as one line, and with everything about it.

use serde::{Deserialize, Serialize};

use super::{BudgetView, ConflictsWith};
use crate::conflict::Resolved;
use crate::event::Proof;
use crate::failure::{Failure, Usage};
use crate::ids::{AgentId, CommandId, RunId, TaskId};
use crate::outcome::Gate;
use crate::plan::{BlockKind, Size, Status};
use crate::review::Reviewer;
use crate::time::Timestamp;

/// One line of the task list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskRow {
    pub id: TaskId,
    pub phase: u32,
    pub title: String,
    pub status: Status,
    /// The stage in words: `Preparing`, `waits for 1.1`, `merging: waits for your checkout: src/a.rs is changed`.
    pub stage: String,
    pub depends: Vec<TaskId>,
    pub attempts: u32,
    /// How often an attempt was gone on with after it was broken off: no attempts of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    pub agent: Option<AgentId>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Everything about one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskView {
    #[serde(flatten)]
    pub row: TaskRow,
    pub description: String,
    pub acceptance: Vec<String>,
    pub files: Vec<String>,
    pub tags: Vec<String>,
    pub size: Option<Size>,
    pub priority: u8,
    pub unblocks: Vec<TaskId>,
    pub block: Option<BlockKind>,
    pub why: Option<String>,
    pub not_before: Option<Timestamp>,
    pub retries: u32,
    /// Failures in a row of a service or a network, which are not held against the task.
    pub transient_retries: u32,
    pub review_rounds: u32,
    /// Who reviews its work.
    #[serde(default)]
    pub reviewer: Reviewer,
    pub merge_rounds: u32,
    /// A person or the autopilot has let it start.
    pub started: bool,
    /// What all attempts have cost so far.
    pub usage: Usage,
    /// Why the agent program brought no result last, with the command that helps where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The profile it is meant for; empty where none is configured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// Crashes since it was last handed to an agent.
    #[serde(default)]
    pub crashes: u32,
    /// What its next iteration is told about the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nudge: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageView>,
    /// What it was split into, or is a part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    pub branch: String,
    /// What its branch conflicts with, as far as that is known by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts_with: Vec<ConflictsWith>,
    /// Files that nobody else changes while it is worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserve: Vec<String>,
    /// Files that others may share then, and nobody may reserve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<String>,
    /// What conflicted with trunk when it was last merged, and what resolved it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Resolved>,
    pub waived: Vec<Gate>,
    pub proof: Option<Proof>,
    /// Commands that make sense now.
    pub commands: Vec<String>,
    /// What happened to it, oldest first (the last 50).
    pub audit: Vec<AuditView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditView {
    pub at: Timestamp,
    pub event: String,
    pub details: String,
}

/// A word of a person for whoever works on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageView {
    pub id: CommandId,
    pub by: String,
    pub text: String,
    pub at: Timestamp,
    /// Where it landed; none while it is queued.
    pub landed: Option<LandedView>,
    /// Why it never will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undelivered: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LandedView {
    pub run: RunId,
    pub iteration: u32,
    pub at: Timestamp,
}
