//! What becomes of a worktree that nobody works in: removed, kept, brought back.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{Fact, FactChange, Left, SavedStage, TaskPart};
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
    if task.not_back().is_some() && !state.has_run(&id) {
        let answer = format!("Task {id} begins anew; `swarm restore {id}` has what was done for it before");
        let removed = task.worktree.then(|| gone(id.clone(), task, None));
        let mut events = removed.unwrap_or_default();
        events.push(Event::WorktreeRevived { task: id, base: None });
        return Ok(Outcome::new(events, answer));
    }
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

/// Tried on until it comes: nothing of it is forgotten, and nobody begins without it. After some times a person is told. That
/// stands once in the ledger for each reason, however long nobody sees to it.
pub(super) fn not_revived(state: &State, id: TaskId, why: String, hint: Option<String>) -> Vec<Event> {
    let open = |task: &&Task| task.left.is_some() && !task.stage.is_closed();
    let Some(task) = state.task(&id).filter(open) else { return vec![] };
    if task.not_back().is_some_and(|known| known.why == why && known.hint == hint) {
        return vec![];
    }
    let tries = task.not_revived.as_ref().map_or(0, |before| before.tries).saturating_add(1);
    let given_up = Some(tries >= EFFECT_FAILURES_MAX);
    vec![Event::RevivalFailed { task: id, why, given_up, tries: Some(tries), hint }]
}

pub(super) fn kept(state: &State, id: TaskId, why: String) -> Vec<Event> {
    match state.task(&id) {
        Some(t) if (t.stage.is_closed() || t.leaving) && t.worktree && t.kept.is_none() => {
            vec![Event::WorktreeKept { task: id, why }]
        }
        _ => vec![],
    }
}
