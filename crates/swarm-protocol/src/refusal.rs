//! Something was asked for that is not possible now. Closed list; each says what would be possible.

mod words;

use serde::{Deserialize, Serialize};

use crate::ids::{CommandId, Oid, TaskId};
use crate::operation::Fact;
use crate::outcome::PauseReason;
use crate::plan::Status;
use crate::review::Reviewer;

/// Why a command was not carried out. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum Refusal {
    NoPlan,
    PlanClosed,
    PlanExists,
    UnknownTask {
        task: String,
        near: Option<TaskId>,
    },
    UnknownPhase {
        phase: u32,
        known: Vec<u32>,
    },
    DuplicateTask {
        task: TaskId,
    },
    UnknownDependency {
        task: TaskId,
        depends: String,
        near: Option<TaskId>,
    },
    Cycle {
        path: Vec<TaskId>,
    },
    TooLarge {
        what: String,
        limit: u64,
        got: u64,
    },
    BadValue {
        what: String,
        why: String,
    },
    ProfileLocked,
    /// The status of the task does not allow it.
    WrongStatus {
        task: TaskId,
        status: Status,
        wanted: String,
        instead: Vec<String>,
    },
    /// What a reviewer has seen is not what was submitted.
    ReviewedAnother {
        task: TaskId,
        submitted: Oid,
        seen: Oid,
    },
    /// Somebody else reviews the task.
    ReviewedBy {
        task: TaskId,
        by: Reviewer,
    },
    PhaseOpen {
        phase: u32,
        open: Vec<TaskId>,
    },
    PhaseAlreadyComplete {
        phase: u32,
    },
    AgentsRunning {
        tasks: Vec<TaskId>,
    },
    TaskInUse {
        task: TaskId,
        by: Vec<TaskId>,
    },
    NothingToChange {
        what: String,
    },
    /// There are other pauses, or none.
    NotPaused {
        wanted: PauseReason,
        paused: Vec<PauseReason>,
    },
    NoAgent {
        task: TaskId,
    },
    /// Somebody else has these files.
    FilesReserved {
        files: String,
        holder: String,
        number: u64,
    },
    UnknownReservation {
        number: u64,
    },
    /// No such proposal waits (any more).
    UnknownProposal {
        number: u64,
    },
    /// The same waits for a person already.
    AlreadyProposed {
        number: u64,
        id: CommandId,
    },
    AlreadyWaived {
        task: TaskId,
        gate: String,
    },
    Draining,
    /// A caller inside an attempt asked for something that only a person may.
    NotForAgents {
        what: String,
    },
    /// The ledger can only be read now.
    ReadOnly {
        why: String,
    },
    /// One operation that moves git at a time.
    OperationUnderWay {
        kind: String,
    },
    UnknownCheckpoint {
        name: String,
        near: Option<String>,
    },
    CheckpointExists {
        name: String,
    },
    /// Something still refers to it.
    CheckpointNeeded {
        name: String,
        why: String,
    },
    UnknownOperation {
        id: String,
    },
    NothingToUndo {
        what: String,
    },
    AlreadyUndone {
        id: CommandId,
        by: CommandId,
        /// Their numbers in `swarm op log`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by_number: Option<u64>,
    },
    /// Facts that it would set back have changed since.
    ChangedSince {
        id: CommandId,
        /// The operation, as a person would say it.
        what: String,
        changes: Vec<Changed>,
        /// The command that would be accepted.
        instead: String,
    },
    /// Other tasks build on the work that would go.
    HasDependents {
        task: TaskId,
        dependents: Vec<TaskId>,
    },
    /// What would happen is not what the person has seen.
    PreviewChanged {
        command: String,
    },
    /// Git or the person's checkout stands in the way.
    CannotMove {
        why: String,
        hint: String,
    },
}

/// A fact that no longer is what an operation made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub fact: Fact,
    /// For people: `task 1.2 was blocked and is active now`.
    pub words: String,
    /// The operations that changed it since, newest first: to be undone first.
    pub by: Vec<CommandId>,
}

impl Refusal {
    /// Names of all kinds, for the count of transcripts.
    pub const KINDS: &'static [&'static str] = &[
        "no_plan",
        "plan_closed",
        "plan_exists",
        "unknown_task",
        "unknown_phase",
        "duplicate_task",
        "unknown_dependency",
        "cycle",
        "too_large",
        "bad_value",
        "profile_locked",
        "wrong_status",
        "phase_open",
        "phase_already_complete",
        "agents_running",
        "task_in_use",
        "nothing_to_change",
        "not_paused",
        "no_agent",
        "files_reserved",
        "unknown_reservation",
        "unknown_proposal",
        "already_proposed",
        "already_waived",
        "draining",
        "not_for_agents",
        "read_only",
        "operation_under_way",
        "unknown_checkpoint",
        "checkpoint_exists",
        "checkpoint_needed",
        "unknown_operation",
        "nothing_to_undo",
        "already_undone",
        "changed_since",
        "has_dependents",
        "preview_changed",
        "cannot_move",
    ];

    /// The tag of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoPlan => "no_plan",
            Self::PlanClosed => "plan_closed",
            Self::PlanExists => "plan_exists",
            Self::UnknownTask { .. } => "unknown_task",
            Self::UnknownPhase { .. } => "unknown_phase",
            Self::DuplicateTask { .. } => "duplicate_task",
            Self::UnknownDependency { .. } => "unknown_dependency",
            Self::Cycle { .. } => "cycle",
            Self::TooLarge { .. } => "too_large",
            Self::BadValue { .. } => "bad_value",
            Self::ProfileLocked => "profile_locked",
            Self::WrongStatus { .. } => "wrong_status",
            Self::ReviewedAnother { .. } => "reviewed_another",
            Self::ReviewedBy { .. } => "reviewed_by",
            Self::PhaseOpen { .. } => "phase_open",
            Self::PhaseAlreadyComplete { .. } => "phase_already_complete",
            Self::AgentsRunning { .. } => "agents_running",
            Self::TaskInUse { .. } => "task_in_use",
            Self::NothingToChange { .. } => "nothing_to_change",
            Self::NotPaused { .. } => "not_paused",
            Self::NoAgent { .. } => "no_agent",
            Self::FilesReserved { .. } => "files_reserved",
            Self::UnknownReservation { .. } => "unknown_reservation",
            Self::UnknownProposal { .. } => "unknown_proposal",
            Self::AlreadyProposed { .. } => "already_proposed",
            Self::AlreadyWaived { .. } => "already_waived",
            Self::Draining => "draining",
            Self::NotForAgents { .. } => "not_for_agents",
            Self::ReadOnly { .. } => "read_only",
            Self::OperationUnderWay { .. } => "operation_under_way",
            Self::UnknownCheckpoint { .. } => "unknown_checkpoint",
            Self::CheckpointExists { .. } => "checkpoint_exists",
            Self::CheckpointNeeded { .. } => "checkpoint_needed",
            Self::UnknownOperation { .. } => "unknown_operation",
            Self::NothingToUndo { .. } => "nothing_to_undo",
            Self::AlreadyUndone { .. } => "already_undone",
            Self::ChangedSince { .. } => "changed_since",
            Self::HasDependents { .. } => "has_dependents",
            Self::PreviewChanged { .. } => "preview_changed",
            Self::CannotMove { .. } => "cannot_move",
        }
    }
}
