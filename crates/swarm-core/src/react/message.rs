//! A word of a person for whoever works on a task. It waits in the state, every prompt contains what
//! has not landed, and it has landed when an iteration ended whose prompt knew of it.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, FailureClass};
use swarm_protocol::ids::{CommandId, TaskId};
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
    let waiting = task.messages.iter().filter(|m| m.landed.is_none()).count();
    if waiting >= MESSAGES_MAX {
        let what = format!("The number of messages that wait for task {id}");
        return Err(Refusal::TooLarge { what, limit: MESSAGES_MAX as u64, got: waiting as u64 + 1 });
    }
    let answer = match (task.stage.run(), &task.stage) {
        (Some(_), Stage::Active { iteration, .. }) => {
            format!("Queued for task {id}: it lands after iteration {iteration}, at the next boundary")
        }
        (Some(_), _) => format!("Queued for task {id}: it lands at the next boundary"),
        (None, _) => format!("Queued for task {id}: nobody works on it now, its next attempt begins with it"),
    };
    Ok(Outcome::new(vec![Event::MessageQueued { task: id, id: command, by, text }], answer))
}

/// Messages that the prompt of this iteration contained. One that failed before the agent could
/// read is not held for delivered: the next prompt says it again.
pub(super) fn landed(l: &Live<'_>, iteration: u32, known: u64, class: Option<FailureClass>) -> Vec<Event> {
    let read =
        class.is_none_or(|class| matches!(class.consequence(), Consequence::Loop | Consequence::Silence));
    let knew = |seq: u64| seq <= known || planted::is(Bug::MessageLandsUnread);
    let waiting = l.task.messages.iter().filter(|m| read && m.landed.is_none() && knew(m.seq));
    waiting
        .map(|m| Event::MessageLanded { task: l.id.clone(), id: m.id.clone(), run: l.run.clone(), iteration })
        .collect()
}
