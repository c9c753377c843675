//! An operation whose reverts or picks do not fit what is on trunk.

use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::Request;

use super::plan::command;
use crate::state::State;
use crate::state::operations::Record;

/// Files that are named.
const NAMED: usize = 3;

/// Why it cannot be done, and the command that leads on.
pub fn conflicts(state: &State, kind: &str, request: &Request, paths: &[String]) -> (String, String) {
    let shown: Vec<&str> = paths.iter().take(NAMED).map(String::as_str).collect();
    let more = paths.len().checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map_or(String::new(), |more| format!(" and {more} more"));
    let sides = match request {
        Request::RollbackTask { tasks, .. } => tasks.first().map(side_by_side),
        _ => None,
    };
    let sides = sides.map_or(String::new(), |command| format!(" (`{command}` shows the three sides)"));
    let why = format!("{kind} conflicts with later work in {}{more}{sides}", shown.join(", "));
    let hint = match request {
        Request::RollbackTask { tasks, .. } => by_hand(state, tasks),
        // Trunk is set back as a whole then: nothing is left that could conflict. A look first, since work of others goes.
        Request::Rollback { .. } | Request::Abort { .. } => {
            format!("{} --drop-foreign --dry-run", command(state, request))
        }
        _ => "swarm op log".into(),
    };
    (why, hint)
}

/// The command that lays out the conflict which a rollback of one task met.
pub fn three_sides(record: &Record) -> Option<String> {
    let subject = record.subject.as_deref().filter(|_| record.kind == "task rollback")?;
    TaskId::new(subject).ok().map(|id| side_by_side(&id))
}

/// Shows what a file was before the task, what the task left, and what trunk has now.
fn side_by_side(task: &TaskId) -> String {
    format!("swarm task diff {task} --conflict")
}

/// Where later work builds on it by the plan, that goes back first; what else changed the same lines only a person can
/// tell apart.
fn by_hand(state: &State, tasks: &[TaskId]) -> String {
    let Some(first) = tasks.first() else { return "swarm attention".into() };
    let others = |id: &&TaskId| state.dependents(id).iter().any(|other| !tasks.contains(other));
    if let Some(id) = tasks.iter().find(others) {
        return format!("swarm task rollback {id} --cascade");
    }
    // All of it, newest first: with one commit of several left the work would be half there.
    let proof = state.task(first).and_then(|task| task.stage.proof());
    let commits = proof.map(|proof| if proof.commits.is_empty() { proof.own() } else { &proof.commits });
    let commits: Vec<&str> = commits.into_iter().flatten().rev().map(|commit| commit.short()).collect();
    match commits.is_empty() {
        true => format!("swarm task show {first}"),
        false => format!("git revert {}", commits.join(" ")),
    }
}
