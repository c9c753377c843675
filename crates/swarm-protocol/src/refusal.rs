//! Something was asked for that is not possible now. Closed list; each says what would be possible.

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::plan::Status;

/// Why a command was not carried out. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    NotPaused,
    NoAgent {
        task: TaskId,
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
        "already_waived",
        "draining",
        "not_for_agents",
        "read_only",
    ];

    /// What is in the way, one sentence without a full stop.
    pub fn message(&self) -> String {
        let list = |ids: &[TaskId]| {
            let shown: Vec<&str> = ids.iter().take(5).map(TaskId::as_str).collect();
            let more = ids.len().saturating_sub(5);
            if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
        };
        match self {
            Self::NoPlan => "There is no plan yet".into(),
            Self::PlanClosed => "The plan is closed and its ledger is being archived".into(),
            Self::PlanExists => "There is a plan already".into(),
            Self::UnknownTask { task, .. } => format!("There is no task {task}"),
            Self::UnknownPhase { phase, known } => {
                let known: Vec<String> = known.iter().map(u32::to_string).collect();
                format!("There is no phase {phase} (phases: {})", known.join(", "))
            }
            Self::DuplicateTask { task } => format!("There is a task {task} already"),
            Self::UnknownDependency { task, depends, .. } => {
                format!("Task {task} depends on {depends}, which does not exist")
            }
            Self::Cycle { path } => {
                let mut names: Vec<&str> = path.iter().map(TaskId::as_str).collect();
                names.extend(path.first().map(TaskId::as_str));
                format!("Tasks depend on each other in a circle: {}", names.join(" → "))
            }
            Self::TooLarge { what, limit, got } => {
                format!("{what} is too large: {got}, at most {limit} allowed")
            }
            Self::BadValue { what, why } => format!("{what} is not valid: {why}"),
            Self::ProfileLocked => "The execution profile is locked".into(),
            Self::WrongStatus { task, status, wanted, .. } => {
                format!("Task {task} is {} and cannot be {wanted}", status.word())
            }
            Self::PhaseOpen { phase, open } => format!("Phase {phase} has open tasks: {}", list(open)),
            Self::PhaseAlreadyComplete { phase } => format!("Phase {phase} is complete already"),
            Self::AgentsRunning { tasks } => format!("Agents are running on {}", list(tasks)),
            Self::TaskInUse { task, by } => format!("Task {task} is needed by {}", list(by)),
            Self::NothingToChange { what } => format!("{what}: nothing would change"),
            Self::NotPaused => "The swarm is not paused for this reason".into(),
            Self::NoAgent { task } => format!("No agent is working on task {task}"),
            Self::AlreadyWaived { task, gate } => format!("The gate {gate} of task {task} is waived already"),
            Self::Draining => "The swarm is stopping".into(),
            Self::NotForAgents { what } => format!("An agent may not do this: {what}"),
            Self::ReadOnly { why } => format!("The ledger can only be read: {why}"),
        }
    }

    /// The command that would be accepted, or at least shows the way.
    pub fn hint(&self) -> String {
        match self {
            Self::NoPlan => "swarm plan save FILE".into(),
            Self::PlanClosed => "swarm plan save FILE".into(),
            Self::PlanExists => "swarm plan show".into(),
            Self::UnknownTask { near: Some(near), .. } => format!("swarm task show {near}"),
            Self::UnknownTask { .. } => "swarm task list".into(),
            Self::UnknownPhase { .. } => "swarm plan show".into(),
            Self::DuplicateTask { task } => format!("swarm task show {task}"),
            Self::UnknownDependency { near: Some(near), .. } => format!("swarm task show {near}"),
            Self::UnknownDependency { .. } => "swarm task list".into(),
            Self::Cycle { .. } => "swarm task list".into(),
            Self::TooLarge { .. } | Self::BadValue { .. } => "swarm --help".into(),
            Self::ProfileLocked => "swarm plan reset".into(),
            Self::WrongStatus { instead, task, .. } => {
                instead.first().cloned().unwrap_or_else(|| format!("swarm task show {task}"))
            }
            Self::PhaseOpen { open, .. } => open
                .first()
                .map_or_else(|| "swarm task list".into(), |task| format!("swarm task cancel {task}")),
            Self::PhaseAlreadyComplete { .. } => "swarm plan show".into(),
            Self::AgentsRunning { .. } => "swarm close --stop".into(),
            Self::TaskInUse { by, .. } => by.first().map_or_else(
                || "swarm task list".into(),
                |task| format!("swarm task edit {task} --depends ''"),
            ),
            Self::NothingToChange { .. } | Self::NotPaused | Self::NoAgent { .. } => "swarm status".into(),
            Self::AlreadyWaived { task, .. } => format!("swarm task show {task}"),
            Self::Draining => "swarm status".into(),
            Self::NotForAgents { .. } => "swarm status".into(),
            Self::ReadOnly { .. } => "swarm plan salvage".into(),
        }
    }

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
            Self::PhaseOpen { .. } => "phase_open",
            Self::PhaseAlreadyComplete { .. } => "phase_already_complete",
            Self::AgentsRunning { .. } => "agents_running",
            Self::TaskInUse { .. } => "task_in_use",
            Self::NothingToChange { .. } => "nothing_to_change",
            Self::NotPaused => "not_paused",
            Self::NoAgent { .. } => "no_agent",
            Self::AlreadyWaived { .. } => "already_waived",
            Self::Draining => "draining",
            Self::NotForAgents { .. } => "not_for_agents",
            Self::ReadOnly { .. } => "read_only",
        }
    }
}
