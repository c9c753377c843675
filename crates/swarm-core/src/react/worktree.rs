//! What becomes of a worktree that nobody works in: removed, kept, brought back.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{Fact, FactChange, Left, SavedStage, TaskPart};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use crate::limits::EFFECT_FAILURES_MAX;
use crate::stage::Stage;
use crate::state::{State, Task};

pub(super) fn removed(state: &State, id: TaskId, left: Option<Left>) -> Vec<Event> {
    match state.task(&id) {
        // Somebody may have wanted the task back while its worktree went.
        Some(task) if task.worktree && (task.stage.is_closed() || !state.has_run(&id)) => {
            gone(id, task, left)
        }
        _ => vec![],
    }
}

/// The worktree goes, and with it where the branch began; but work that was handed in is merged from there without one.
fn gone(id: TaskId, task: &Task, left: Option<Left>) -> Vec<Event> {
    let handed_in =
        matches!(task.stage, Stage::Review { .. } | Stage::Approved { .. } | Stage::Merging { .. });
    let begins = task.base.as_ref().filter(|_| handed_in).map(|base| begins_at(&id, base));
    std::iter::once(Event::WorktreeRemoved { task: id, left }).chain(begins).collect()
}

/// Where the commits begin that are approved after their worktree was removed, when nobody knew whether they would be.
pub(super) fn begins_again(id: &TaskId, task: &Task) -> Option<Event> {
    let put_off = task.was.as_ref().filter(|_| task.base.is_none());
    let Some(SavedStage::Review { base: Some(base), .. }) = put_off else { return None };
    Some(begins_at(id, base))
}

fn begins_at(id: &TaskId, base: &Oid) -> Event {
    let fact = Fact::Part(id.clone(), TaskPart::Base);
    Event::FactsSet { facts: vec![FactChange { fact, before: None, after: Some(base.as_str().into()) }] }
}

/// The same, by a person. What lay there comes back with a task that was cancelled; an open one begins anew.
pub(super) fn cleaned_up(state: &State, id: TaskId, left: Option<Left>) -> Result<Outcome, Refusal> {
    let task = super::validate::known(state, &id)?;
    if !task.worktree {
        return Err(Refusal::NothingToChange { what: format!("Task {id} has no worktree") });
    }
    if state.has_run(&id) {
        return Err(super::task::wrong(state, &id, task, "cleaned up while its agent is at work"));
    }
    let left = left.filter(|_| task.stage == Stage::Cancelled);
    let answer = format!("The worktree of task {id} is removed");
    Ok(Outcome::new(gone(id, task, left), answer))
}

pub(super) fn revived(state: &State, id: TaskId, base: Option<Oid>) -> Vec<Event> {
    match state.task(&id) {
        Some(task) if task.left.is_some() || (base.is_some() && !task.worktree) => {
            vec![Event::WorktreeRevived { task: id, base }]
        }
        _ => vec![],
    }
}

/// Tried again some times; then a person is told where the work is.
pub(super) fn not_revived(state: &State, id: TaskId, why: String) -> Vec<Event> {
    let Some(task) = state.task(&id).filter(|task| task.left.is_some()) else { return vec![] };
    let given_up = task.effect_failures + 1 >= EFFECT_FAILURES_MAX;
    let mut events =
        vec![Event::RevivalFailed { task: id.clone(), why: why.clone(), given_up: Some(given_up) }];
    if given_up && matches!(task.stage, Stage::Pending { .. }) {
        let why = format!("what was done for it before could not be brought back (`swarm restore`): {why}");
        let next = Next::Blocked { block: BlockKind::Setup, why: why.clone() };
        events.push(super::leave(state, &id, task, next, &why));
    }
    events
}

pub(super) fn kept(state: &State, id: TaskId, why: String) -> Vec<Event> {
    match state.task(&id) {
        Some(t) if (t.stage.is_closed() || t.leaving) && t.worktree && t.kept.is_none() => {
            vec![Event::WorktreeKept { task: id, why }]
        }
        _ => vec![],
    }
}
