//! A person has seen something past that waited on the attention list.

use swarm_protocol::event::Event;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use crate::operation::Record;
use crate::state::unseen::{failure_seen_by, has_undelivered, messages_seen_by, overstep_seen_by};
use crate::state::{State, Task};

/// The name of the entry says how much the person was shown: what has happened since stays on the list.
pub(super) fn seen(state: &State, entry: &str) -> Result<Outcome, Refusal> {
    let failed = |r: &&Record| r.failed.is_some() && !r.seen && failure_seen_by(r) == entry;
    if let Some(record) = state.ops.log.iter().find(failed) {
        let answer = format!("Dismissed: failed {}", record.kind);
        return Ok(Outcome::new(vec![Event::OperationSeen { id: record.id.clone() }], answer));
    }
    let unheard = |task: &&Task| has_undelivered(task) && messages_seen_by(task) == entry;
    if let Some(task) = state.tasks_in_order().find(unheard) {
        let task = task.spec.id.clone();
        let answer = format!("Dismissed: undelivered messages to task {task}");
        return Ok(Outcome::new(vec![Event::MessagesSeen { task }], answer));
    }
    let shown = state.tasks_in_order().find_map(|task| {
        let unseen = task.oversteps_seen + 1..=task.oversteps;
        unseen.clone().find(|n| overstep_seen_by(task, *n) == entry).map(|n| (task.spec.id.clone(), n))
    });
    let Some((task, oversteps)) = shown else {
        return Err(Refusal::NothingToChange { what: "There is no entry with this name".into() });
    };
    let answer = format!("Dismissed: what was told of task {task}");
    Ok(Outcome::new(vec![Event::OverstepsSeen { task, oversteps }], answer))
}
