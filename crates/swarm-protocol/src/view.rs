//! What the front ends show. Made from the state by `swarm-core`'s `show`, printed unchanged by `--json`.

use serde::{Deserialize, Serialize};

use crate::conflict::Resolved;
use crate::council::Voice;
use crate::event::Proof;
use crate::failure::{Failure, Usage};
use crate::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use crate::outcome::{Gate, Mode, PauseReason};
use crate::plan::{BlockKind, ExecutionProfile, Size, Status};
use crate::review::{ReviewNote, Reviewer};
use crate::time::Timestamp;

/// What it means that agents of these profiles run without walls, for every screen; none where there are walls.
pub fn without_walls(profiles: &[String]) -> Option<String> {
    let named = profiles.join(", ");
    let sentence =
        format!("Agents of {named} run without walls (`sandbox: none`): they can do whatever you can");
    (!profiles.is_empty()).then_some(sentence)
}

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
    /// Tasks that are neither done nor given up.
    pub fn open(&self) -> u64 {
        self.total.saturating_sub(self.done + self.cancelled)
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

/// The allowance of a group of profiles is used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotaView {
    pub group: String,
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
    pub agent: Option<AgentId>,
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

/// Submitted work that is or waits to be reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewView {
    pub task: TaskId,
    pub title: String,
    pub reviewer: Reviewer,
    /// Which time it is submitted, from 1.
    pub round: u32,
    /// Rounds before the task is blocked.
    pub rounds: u32,
    /// The commit that the verdict is about.
    pub submitted: Oid,
    pub tree: Oid,
    /// Where the task began.
    pub base: Option<Oid>,
    pub branch: String,
    pub since: Timestamp,
    /// In words: who it waits for.
    pub stage: String,
    /// Of a council: who says what about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub council: Vec<MemberView>,
    /// Protected files that it changes: why a person is asked, whoever else reviews.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    pub commands: Vec<String>,
}

/// A member of the council and what it says about submitted work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberView {
    pub member: String,
    pub profile: String,
    /// None: it has not spoken.
    pub voice: Option<Voice>,
    pub said: String,
    pub notes: Vec<ReviewNote>,
}

/// Where the work of a task can be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkView {
    /// Commits on trunk, oldest first.
    OnTrunk {
        commits: Vec<Oid>,
    },
    Submitted {
        base: Oid,
        tip: Oid,
    },
    /// Not finished: the branch moves on.
    OnBranch {
        base: Oid,
        branch: String,
    },
}

/// The ways on after an abort or a failure, as commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetryOptions {
    /// What is done stays; what failed is tried again, what has gone is merged again.
    pub same_plan: String,
    /// The plan is edited first.
    pub edit_plan: String,
    /// This plan is archived, and another one begun.
    pub fresh_start: String,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            same_plan: "swarm run --retry".into(),
            edit_plan: "swarm run --retry --edit".into(),
            fresh_start: "swarm close && swarm run --plan FILE".into(),
        }
    }
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
    pub approved: ApprovalView,
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
