//! A refusal in words: what is in the way, and the command that helps.

use super::Refusal;
use crate::ids::{CommandId, TaskId};
use crate::outcome::PauseReason;

impl Refusal {
    /// What is in the way, one sentence without a full stop.
    pub fn message(&self) -> String {
        match self {
            Self::NoPlan => "No plan yet (a planner writes one for `swarm plan make GOAL`)".into(),
            Self::PlanClosed => "The plan is closed and its ledger is being archived".into(),
            Self::PlanExists => "A plan already exists".into(),
            Self::UnknownTask { task, .. } => format!("There is no task {task}"),
            Self::UnknownPhase { phase, known } => {
                let known: Vec<String> = known.iter().map(u32::to_string).collect();
                format!("There is no phase {phase} (phases: {})", known.join(", "))
            }
            Self::DuplicateTask { task } => format!("Task {task} already exists"),
            Self::UnknownDependency { task, depends, .. } => {
                format!("Task {task} depends on {depends}, which does not exist")
            }
            Self::Cycle { path } => {
                let names: Vec<&str> = path.iter().chain(path.first()).map(TaskId::as_str).collect();
                format!("Dependency cycle: {}", names.join(" → "))
            }
            Self::TooLarge { what, limit, got } => match what.strip_suffix(" in bytes") {
                Some(what) => format!("{what} is too long: {got} bytes, at most {limit} allowed"),
                None => format!("{what} is too large: {got}, at most {limit} allowed"),
            },
            Self::BadValue { what, why } => format!("{what} is not valid: {why}"),
            Self::ProfileLocked => "The execution profile is locked".into(),
            Self::WrongStatus { task, status, wanted, .. } if status.word() == wanted => {
                format!("Task {task} is already {wanted}")
            }
            Self::WrongStatus { task, status, wanted, .. } => {
                format!("Task {task} {} and cannot be {wanted}", status.sentence())
            }
            Self::ReviewedAnother { task, submitted, seen } => {
                format!("Task {task} was submitted at {}, not at {}", submitted.short(), seen.short())
            }
            Self::ReviewedBy { task, by } => {
                format!("Task {task} is not reviewed by a person: its reviewer is {}", by.word())
            }
            Self::PhaseOpen { phase, open } => format!("Phase {phase} has open tasks: {}", list(open)),
            Self::PhaseAlreadyComplete { phase } => format!("Phase {phase} is already complete"),
            Self::AgentsRunning { tasks } => format!("Agents are running on {}", list(tasks)),
            Self::TaskInUse { task, by } => format!("Task {task} is needed by {}", list(by)),
            Self::NothingToChange { what } => format!("{what}: nothing would change"),
            Self::NotPaused { paused, .. } if paused.is_empty() => "The swarm is not paused".into(),
            Self::NotPaused { paused, .. } => {
                let reasons = PauseReason::list(paused.iter().copied());
                format!("The swarm is paused for another reason: {reasons}")
            }
            Self::NoAgent { task } => format!("No agent is working on task {task}"),
            Self::FilesReserved { files, holder, number } => {
                format!("{files} belongs to {holder} (reservation {number})")
            }
            Self::UnknownReservation { number } => format!("There is no reservation {number}"),
            Self::UnknownProposal { number } => format!("There is no waiting proposal {number}"),
            Self::AlreadyProposed { number, .. } => {
                format!("Proposal {number} is the same and still waits for an answer")
            }
            Self::AlreadyWaived { task, gate } => format!("The gate {gate} of task {task} is already waived"),
            Self::Draining => "The swarm is stopping".into(),
            Self::NotForAgents { what } => format!("Agents may not run this command: {what}"),
            Self::ReadOnly { why } => format!("The ledger is read-only: {why}"),
            Self::OperationUnderWay { kind } => format!("Another operation is under way: {kind}"),
            Self::UnknownCheckpoint { name, .. } => format!("There is no checkpoint {name}"),
            Self::CheckpointExists { name } => format!("Checkpoint {name} already exists"),
            Self::CheckpointNeeded { name, why } => format!("Checkpoint {name} is needed: {why}"),
            Self::UnknownOperation { id } => format!("There is no operation {id} to undo"),
            Self::NothingToUndo { what } => format!("Nothing to {what}"),
            Self::AlreadyUndone { id, by, number, by_number } => {
                let (undone, by) = (operation(*number, id), operation(*by_number, by));
                format!("Operation {undone} was already undone by {by}")
            }
            Self::ChangedSince { what, changes, .. } => {
                let changes = first_five(changes.iter().map(|change| change.words.as_str()));
                format!("Cannot undo `{what}`, changed since: {changes}")
            }
            Self::HasDependents { task, dependents } => {
                format!("Other tasks build on task {task}: {}", list(dependents))
            }
            Self::PreviewChanged { .. } => "Something has changed since the preview".into(),
            Self::CannotMove { why, .. } => why.clone(),
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
            Self::ReviewedAnother { task, .. } => format!("swarm review show {task}"),
            Self::ReviewedBy { task, .. } => format!("swarm task show {task}"),
            Self::PhaseOpen { open, .. } => open
                .first()
                .map_or_else(|| "swarm task list".into(), |task| format!("swarm task cancel {task}")),
            Self::PhaseAlreadyComplete { .. } => "swarm plan show".into(),
            Self::AgentsRunning { .. } => "swarm close --stop".into(),
            Self::TaskInUse { by, .. } => by.first().map_or_else(
                || "swarm task list".into(),
                |task| format!("swarm task edit {task} --depends ''"),
            ),
            Self::NotPaused { paused, .. } if !paused.is_empty() => paused[0].ended_by(),
            Self::NothingToChange { .. } | Self::NotPaused { .. } | Self::NoAgent { .. } => {
                "swarm status".into()
            }
            Self::FilesReserved { number, .. } => format!("swarm reservations release {number}"),
            Self::UnknownReservation { .. } => "swarm reservations list".into(),
            Self::UnknownProposal { .. } | Self::AlreadyProposed { .. } => "swarm attention".into(),
            Self::AlreadyWaived { task, .. } => format!("swarm task show {task}"),
            Self::Draining => "swarm status".into(),
            Self::NotForAgents { .. } => "swarm status".into(),
            Self::ReadOnly { .. } => "swarm plan salvage".into(),
            Self::OperationUnderWay { .. } => "swarm status".into(),
            Self::UnknownCheckpoint { near: Some(near), .. } => format!("swarm checkpoint show {near}"),
            Self::UnknownCheckpoint { .. } => "swarm checkpoint list".into(),
            Self::CheckpointExists { name } => format!("swarm checkpoint show {name}"),
            Self::CheckpointNeeded { name, .. } => format!("swarm checkpoint show {name}"),
            Self::UnknownOperation { .. } | Self::NothingToUndo { .. } => "swarm op log".into(),
            Self::AlreadyUndone { by, by_number, .. } => {
                format!("swarm op show {}", operation(*by_number, by))
            }
            Self::ChangedSince { instead, .. } => instead.clone(),
            Self::HasDependents { task, .. } => format!("swarm task rollback {task} --cascade"),
            Self::PreviewChanged { command } => format!("{command} --dry-run"),
            Self::CannotMove { hint, .. } => hint.clone(),
        }
    }
}

/// As people find it in `swarm op log`.
fn operation(number: Option<u64>, id: &CommandId) -> String {
    number.map_or_else(|| id.to_string(), |number| number.to_string())
}

fn list(ids: &[TaskId]) -> String {
    first_five(ids.iter().map(TaskId::as_str))
}

fn first_five<'a>(all: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = all.len().saturating_sub(5);
    let shown: Vec<&str> = all.take(5).collect();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Status;

    #[test]
    fn a_refusal_for_the_status_is_a_sentence_whatever_the_status() {
        let said = |status, wanted: &str| {
            let task = TaskId::new("1.1").expect("an id");
            Refusal::WrongStatus { task, status, wanted: wanted.into(), instead: vec![] }.message()
        };
        for (status, words) in [
            (Status::Pending, "is pending"),
            (Status::Review, "is in review"),
            (Status::Merging, "is being merged"),
            (Status::Failed, "has failed"),
            (Status::Timeout, "has run out of time"),
            (Status::Gone, "has gone from trunk"),
        ] {
            assert_eq!(said(status, "split"), format!("Task 1.1 {words} and cannot be split"));
        }
        assert_eq!(said(Status::Blocked, "blocked"), "Task 1.1 is already blocked");
    }
}
