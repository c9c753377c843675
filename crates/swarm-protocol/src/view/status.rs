//! The swarm at a glance, and each part of that glance.

use serde::{Deserialize, Serialize};

use crate::failure::{GateCause, Usage};
use crate::ids::{AgentId, RunId, TaskId};
use crate::outcome::{Mode, PauseReason};
use crate::plan::ExecutionProfile;
use crate::time::Timestamp;

/// The swarm at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusView {
    /// The ledger position this was read at.
    pub seq: u64,
    /// Whether a coordinator works on it now; none where nobody has looked, as in the past.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinator: Option<bool>,
    /// Profiles whose agents run without walls (`sandbox: none`), as far as the configuration is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_walls: Vec<String>,
    pub goal: String,
    pub trunk: Option<String>,
    pub epoch: u64,
    pub phases: Vec<PhaseView>,
    pub counts: Counts,
    pub profile: ExecutionProfile,
    pub agents: Vec<AgentView>,
    /// Whether ready tasks start by themselves.
    pub mode: Mode,
    pub paused: Vec<PauseReason>,
    pub draining: bool,
    /// What all tasks have cost so far.
    pub usage: Usage,
    /// What would be granted next, best first, with the reason.
    pub next: Vec<NextView>,
    pub attention: Vec<AttentionView>,
    /// Work that will conflict where it meets, as far as that is known by now. Each pair once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictView>,
    /// Allowances that are used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<QuotaView>,
    /// Files that somebody has for themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<ReservationView>,
    /// Agents out of service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<DegradedView>,
    /// What may be spent, where a bound is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    /// Records were lost and nobody has acknowledged it.
    pub loss: Option<String>,
    pub approved: ApprovalView,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    pub total: u64,
    pub ready: u64,
    pub waiting: u64,
    pub active: u64,
    pub review: u64,
    pub merging: u64,
    pub done: u64,
    pub blocked: u64,
    pub failed: u64,
    pub timeout: u64,
    pub deferred: u64,
    pub cancelled: u64,
    /// Were done, and their work is not on trunk any more.
    #[serde(default)]
    pub gone: u64,
    /// Wait for their parts; nobody works on them.
    #[serde(default)]
    pub split: u64,
    /// Finished work that `swarm abort` took back; merged again by `swarm run --retry`.
    #[serde(default)]
    pub aborted: u64,
}

impl Counts {
    /// Tasks that a run would go on with by itself.
    pub fn for_a_run(&self) -> u64 {
        self.ready + self.active + self.review + self.merging
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseView {
    pub id: u32,
    pub name: String,
    pub total: u64,
    pub done: u64,
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentView {
    pub agent: AgentId,
    pub run: RunId,
    pub task: TaskId,
    pub title: String,
    /// Preparing, working, checking, stopping …
    pub doing: String,
    pub iteration: u32,
    pub since: Timestamp,
    /// What this attempt has cost so far.
    pub usage: Usage,
    /// It stands at its boundary and waits until work goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// Nothing of a group of profiles is started: its allowance is used up, its service is not to be had, or its key is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotaView {
    pub group: String,
    #[serde(default, skip_serializing_if = "GateCause::is_quota")]
    pub cause: GateCause,
    pub since: Timestamp,
    pub why: String,
    /// When it comes back, where the program said so.
    pub resets_at: Option<Timestamp>,
    /// When the next small question is asked; none while one is under way or a person holds it.
    pub next_probe: Option<Timestamp>,
    pub probing: bool,
    pub held: bool,
    /// Tasks that wait for it.
    pub waiting: u64,
}

/// Files that somebody has for themselves, for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReservationView {
    pub number: u64,
    /// `task 1.2`, or who asked.
    pub holder: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Nobody else changes these.
    pub files: Vec<String>,
    /// Others may share these, and nobody may reserve them.
    pub shared: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub since: Timestamp,
    /// When its time is over; none while an agent works under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Tasks that wait for it: to begin, or to be merged.
    pub waiting: Vec<TaskId>,
    /// Others that it overlaps with (`reservations.overlap` is `warn`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<u64>,
}

/// An agent that crashed too often gets no more work until `swarm agent revive`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DegradedView {
    pub agent: AgentId,
    pub since: Timestamp,
    pub why: String,
}

/// What was spent of what may be spent, since the budget was last extended. No bound: nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetView {
    pub tokens: u64,
    pub tokens_max: Option<u64>,
    /// Millionths of a dollar.
    pub cost_micros: u64,
    pub cost_micros_max: Option<u64>,
    /// Seconds that agents worked.
    pub secs: u64,
    pub secs_max: Option<u64>,
    pub spent: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextView {
    pub task: TaskId,
    pub title: String,
    /// "unblocks 2, priority 1".
    pub because: String,
    /// It starts only when a person says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_start: bool,
}

/// The branch of a task conflicts with another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConflictView {
    pub task: TaskId,
    #[serde(flatten)]
    pub conflict: ConflictsWith,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConflictsWith {
    /// `trunk`, or a task.
    pub with: String,
    /// The files (the first 20).
    pub files: Vec<String>,
}

/// Something waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttentionView {
    pub what: String,
    pub since: Timestamp,
    pub why: String,
    /// Commands that resolve it.
    pub commands: Vec<String>,
    /// What `swarm attention --seen` takes. Only on entries that tell of something past: they stay until a
    /// person has seen them, the others as long as their cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalView {
    pub approved: bool,
    pub drifted: bool,
    pub structure_hash: String,
    pub approved_hash: Option<String>,
}
