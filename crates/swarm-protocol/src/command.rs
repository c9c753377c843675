//! What people and tools may ask for, what they get back, and why something is refused.
//!
//! ```
//! use swarm_protocol::command::{Command, Envelope};
//!
//! let text = r#"{"id":"c-1","by":"person:cli","command":{"do":"drain","why":"lunch"}}"#;
//! let envelope: Envelope = serde_json::from_str(text)?;
//! assert_eq!(envelope.command, Command::Drain { why: "lunch".into() });
//! assert_eq!(envelope.command.kind(), "drain");
//! assert_eq!(serde_json::to_string(&envelope)?, text);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod names;
mod typed;

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, CommandId, Oid, TaskId};
use crate::operation::{Force, Left};
use crate::outcome::{Gate, Mode, PauseReason};
use crate::plan::{ExecutionProfile, PlanFile, TaskPatch, TaskSpec};
use crate::planning::Planning;
use crate::review::Verdict;

/// Who asks: `person:cli`, `agent:ed-001`, `swarm:coordinator`.
pub type Actor = String;

/// A command on its way in. The id makes it safe to ask again when the answer was lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    pub id: CommandId,
    pub by: Actor,
    pub command: Command,
}

/// Where a saved plan comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SaveKind {
    /// `swarm plan save` / `edit`: statuses in the file are not looked at.
    Save,
    /// `swarm plan import`: statuses done, blocked, deferred, cancelled are taken over; `plan_rebuilt` is recorded.
    Import,
    /// A plan.json of a time without a ledger: as import, only where there is no plan yet.
    Migrate,
}

/// A wish, imperative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Command {
    /// Makes the plan what the file says: adds, changes, moves and removes tasks.
    SavePlan {
        plan: PlanFile,
        kind: SaveKind,
        /// Where it was read from, for the record.
        source: String,
        /// `reset_statuses`: reset the plan first (lifts a locked profile).
        reset_statuses: bool,
        /// Where an agent proposed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        planning: Option<Planning>,
    },
    /// Every task back to pending, profile unlocked.
    ResetPlan,
    /// Remembers the structure hash of the plan as it is now.
    ApprovePlan,
    SetProfile {
        profile: ExecutionProfile,
    },
    LockProfile,
    /// Records that the export artifacts were written.
    RecordExport {
        path: String,
    },
    /// Completes a phase whose tasks are all done or cancelled.
    CompletePhase {
        phase: u32,
    },
    /// Ends the plan: open tasks are cancelled, the ledger is archived.
    ClosePlan {
        /// Name of the archive file, from the clock of the asker.
        archive: String,
    },
    /// Takes the closing back: for a ledger that was brought out of the archive.
    ReopenPlan,
    AddTask {
        phase: Option<u32>,
        after: Option<TaskId>,
        task: TaskSpec,
    },
    EditTask {
        task: TaskId,
        patch: TaskPatch,
    },
    RemoveTask {
        task: TaskId,
    },
    /// Puts the task after another one (or first), in a phase.
    MoveTask {
        task: TaskId,
        after: Option<TaskId>,
        phase: Option<u32>,
    },
    BlockTask {
        task: TaskId,
        reason: String,
    },
    /// Back to the queue from blocked, failed, timeout or deferred.
    UnblockTask {
        task: TaskId,
    },
    /// Takes a task for done as it is: its work has gone from trunk, or there is none.
    AcceptTask {
        task: TaskId,
        reason: String,
    },
    /// Goes on after an abort, and merges work again that has gone from trunk.
    Retry,
    DeferTask {
        task: TaskId,
    },
    CancelTask {
        task: TaskId,
    },
    /// A person's word about submitted work.
    Review {
        task: TaskId,
        verdict: Verdict,
    },
    WaiveGate {
        task: TaskId,
        gate: Gate,
        reason: String,
    },
    /// Starts nothing new; iterations under way end at their boundary.
    Pause {
        reason: PauseReason,
        why: String,
        /// Those who have not reached their boundary are stopped.
        #[serde(default)]
        force: bool,
    },
    Resume {
        reason: PauseReason,
    },
    /// Whether ready tasks start by themselves.
    SetMode {
        mode: Mode,
    },
    /// Lets tasks start that wait for it; all ready ones when none is named.
    StartTasks {
        tasks: Vec<TaskId>,
    },
    /// Work that a person did on the task's branch goes to trunk as an agent's would.
    SubmitWork {
        task: TaskId,
        base: Oid,
        tip: Oid,
        tree: Oid,
    },
    /// Records that the worktree of this task was removed by hand, by proof or after it was saved.
    RecordRemoval {
        task: TaskId,
        /// What lay there, for a task that may be wanted back.
        #[serde(default)]
        left: Option<Left>,
    },
    /// Stops the agent that works on this task; the task goes back to the queue without penalty.
    StopAgent {
        task: TaskId,
    },
    /// As stop, at once, and the worktree goes back to where the iteration began; its changes stay under a ref.
    KillAgent {
        task: TaskId,
    },
    /// The agent stops its task and takes up another one.
    Redirect {
        task: TaskId,
        to: TaskId,
        /// The other task begins with this one's work.
        same_worktree: bool,
    },
    MakeCheckpoint {
        /// None: named by the moment.
        name: Option<String>,
    },
    DeleteCheckpoint {
        name: String,
    },
    /// Everything back to a checkpoint; none: to the beginning of the session.
    Rollback {
        to: Option<String>,
        #[serde(default)]
        force: Force,
        /// Hash of the preview that the person has seen.
        #[serde(default)]
        expect: Option<String>,
    },
    /// The task's work out of trunk again, or off its branch.
    RollbackTask {
        task: TaskId,
        /// With every task that builds on it.
        cascade: bool,
        #[serde(default)]
        force: Force,
        #[serde(default)]
        expect: Option<String>,
    },
    /// Agents stopped, trunk back to where it was; everything is kept for a retry.
    Abort {
        #[serde(default)]
        force: Force,
        #[serde(default)]
        expect: Option<String>,
    },
    /// Takes back the newest operation of a person, or the one named.
    Undo {
        operation: Option<CommandId>,
        /// What has changed since stays; the rest is set back.
        partial: bool,
        #[serde(default)]
        force: Force,
        #[serde(default)]
        expect: Option<String>,
    },
    /// Takes back the newest undo, or the one named.
    Redo {
        operation: Option<CommandId>,
        #[serde(default)]
        force: Force,
        #[serde(default)]
        expect: Option<String>,
    },
    /// Finished work goes to this branch from here on; only while nobody works.
    SetTrunk {
        branch: String,
        /// Where the branch is made if there is none.
        #[serde(default)]
        start: Option<Oid>,
        #[serde(default)]
        expect: Option<String>,
    },
    /// A word for whoever works on the task; given at the next boundary.
    MessageAgent {
        task: TaskId,
        text: String,
    },
    /// Lets an agent that was taken out of service work again.
    ReviveAgent {
        agent: AgentId,
    },
    /// Replaces a task that is too large by parts that are done one after the other, unless they say otherwise.
    SplitTask {
        task: TaskId,
        parts: Vec<TaskSpec>,
        /// Where an agent proposed them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        planning: Option<Planning>,
    },
    /// Takes the allowance of a group for restored, without waiting for it.
    OpenQuota {
        group: String,
    },
    /// Stays closed until a person opens it: no probe, no resumption by the clock.
    HoldQuota {
        group: String,
    },
    /// As much again may be spent: by the task, or by the whole swarm.
    ExtendBudget {
        task: Option<TaskId>,
    },
    /// Files for oneself, for a while: agents' work in them waits.
    Reserve {
        /// Globs; all of them, or none is reserved.
        files: Vec<String>,
        /// Others may share them, and nobody may reserve them.
        #[serde(default)]
        shared: bool,
        /// How long; none: as configured.
        #[serde(default)]
        secs: Option<u64>,
        #[serde(default)]
        reason: Option<String>,
    },
    /// Files that somebody has reserved are free again, whoever it was.
    ReleaseReservation {
        number: u64,
    },
    /// Ctrl+C: no new work, agents to their boundary, then the end.
    Drain {
        why: String,
    },
    /// A checkpoint and then the end, in one record: whoever asks may be gone before the checkpoint is made.
    CheckpointAndDrain {
        why: String,
    },
    /// The person has seen this entry of the attention list: one that tells of something past, which no
    /// change of the swarm would take away.
    AcknowledgeAttention {
        /// The entry's `seen_by`, as the list gave it: what came after that is still unseen.
        entry: String,
    },
    /// A program wants this, and a person is to agree. Only what takes something back is proposed.
    Propose {
        command: Box<Command>,
        /// What was shown to whoever wants it, in lines for people.
        says: Vec<String>,
    },
    /// Carries out what was proposed, exactly as it was shown or not at all.
    AcceptProposal {
        number: u64,
    },
    DeclineProposal {
        number: u64,
        #[serde(default)]
        reason: Option<String>,
    },
    /// The person has seen that records were lost.
    AcknowledgeLoss {
        salvaged: u64,
    },
}

/// The answer to an accepted command, given only after the ledger's sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    pub id: CommandId,
    /// The last record of the decision.
    pub seq: u64,
    /// One line for people: what happened.
    pub text: String,
    /// True when the command had been carried out before and this is its old answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
}
