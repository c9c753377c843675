//! A word of a person for whoever works on a task. It waits in the state, every prompt contains what
//! has not landed, and it has landed when an iteration ended whose prompt knew of it.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, FailureClass};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::plan::Status;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::validate;
use super::work::Live;
use crate::limits::{MESSAGE_MAX, MESSAGES_MAX};
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::State;

pub(super) fn queue(
    state: &State,
    id: TaskId,
    text: String,
    command: CommandId,
    by: String,
) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    if task.stage.is_closed() || matches!(task.stage, Stage::Split { .. }) {
        return Err(super::task::wrong(state, &id, task, "given a message"));
    }
    validate::text("The message", &text, MESSAGE_MAX)?;
    let waiting = task.messages.iter().filter(|m| m.waits()).count();
    if waiting >= MESSAGES_MAX {
        let what = format!("The number of messages that wait for task {id}");
        return Err(Refusal::TooLarge { what, limit: MESSAGES_MAX as u64, got: waiting as u64 + 1 });
    }
    let queued = Event::MessageQueued { task: id.clone(), id: command, by, text };
    // Finished work that is not on its way to trunk yet comes back for one more iteration.
    if let Stage::Review { .. } | Stage::Approved { .. } = task.stage {
        let why = "a message came after the work was handed in".to_string();
        let status = Status::Pending;
        let reopened = Event::WorkReopened { task: id.clone(), status, run: None, iteration: 0, why };
        let answer = format!("Queued for task {id}: its merge waits for one more iteration");
        let work = super::conflict::lies_there_again(task, &id);
        return Ok(Outcome::new([queued, reopened].into_iter().chain(work).collect(), answer));
    }
    // It is what the agent asked for, so nothing keeps the task any more.
    if super::asks(task) && super::budget::task_is_spent(state, task).is_none() {
        let answer = format!("Task {id} is back in the queue; its agent gets your answer");
        let goes_on = super::put_off::goes_on(state, &id, task);
        return Ok(Outcome::new(std::iter::once(queued).chain(goes_on).collect(), answer));
    }
    let answer = match (task.stage.run(), &task.stage) {
        (_, Stage::Merging { .. }) => format!(
            "Queued for task {id}: the task is being merged. If the merge succeeds first, `swarm attention` reports the message as not delivered"
        ),
        (Some(_), Stage::Checking { .. }) => {
            format!("Queued for task {id}: its work is being checked; delivered in one more iteration")
        }
        (Some(_), Stage::Active { iteration, .. }) => {
            format!("Queued for task {id}: delivered after iteration {iteration}")
        }
        (Some(_), _) => format!("Queued for task {id}: delivered at the next boundary"),
        (None, _) => format!("Queued for task {id}: no agent is at work; delivered with the next attempt"),
    };
    Ok(Outcome::new(vec![queued], answer))
}

/// The checks passed, and a person has said something that no prompt contained: one more iteration before the merge.
pub(super) fn reopens_checked(state: &State, l: &Live<'_>, iteration: u32) -> Option<Event> {
    let waits = l.task.messages.iter().any(|m| m.waits());
    (waits && iteration < state.policy.max_iterations).then(|| Event::WorkReopened {
        task: l.id.clone(),
        status: Status::Active,
        run: Some(l.run.clone()),
        iteration,
        why: "a message came while its work was checked".into(),
    })
}

/// The task is closed, and this word never reached an agent: its sender is told.
pub(crate) fn undelivered(state: &State) -> Option<Event> {
    let task = state.index.unheard().find_map(|id| state.task(id))?;
    let message = task.messages.iter().find(|m| m.waits())?;
    let why = format!("the task {}", task.stage.status().sentence());
    Some(Event::MessageUndelivered { task: task.spec.id.clone(), id: message.id.clone(), why })
}

/// Messages that the prompt of this iteration contained. One that failed before the agent could
/// read is not held for delivered: the next prompt says it again.
pub(super) fn landed(l: &Live<'_>, iteration: u32, known: u64, class: Option<FailureClass>) -> Vec<Event> {
    let read =
        class.is_none_or(|class| matches!(class.consequence(), Consequence::Loop | Consequence::Silence));
    let knew = |seq: u64| seq <= known || planted::is(Bug::MessageLandsUnread);
    let waiting = l.task.messages.iter().filter(|m| read && m.waits() && knew(m.seq));
    waiting
        .map(|m| Event::MessageLanded { task: l.id.clone(), id: m.id.clone(), run: l.run.clone(), iteration })
        .collect()
}
