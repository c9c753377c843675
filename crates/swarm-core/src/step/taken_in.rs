//! The facts of a command are found while its events are taken in: read before, read after.

use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use super::write;
use crate::limits::FACTS_MAX;
use crate::operation::{checkpoints, facts};
use crate::state::State;
use crate::state::operations::size;

/// Bytes of events from which on the facts may be too many.
const LARGE: usize = 64 * 1024;
/// A reset speaks of every task.
const MANY_TASKS: usize = 500;

/// Takes a decision in, and gives the batch that it comes to. An `operation` among the events gets the facts that
/// those before it changed.
pub fn take_in(state: &mut State, mut events: Vec<Event>, now: Timestamp) -> Vec<Event> {
    keep_large(state, &mut events);
    let mut batch = Vec::with_capacity(events.len());
    let Some(at) = events.iter().position(|e| matches!(e, Event::Operation { facts: None, .. })) else {
        write(state, events, now, &mut batch);
        return batch;
    };
    // A plan that is being closed has its last record behind the operation.
    let mut rest = events.split_off(at);
    let touched = facts::touched(state, &events);
    let before = facts::read_all(state, &touched);
    write(state, events, now, &mut batch);
    let after = facts::read_all(state, &touched);
    if let Event::Operation { facts: recorded, checkpoint, .. } = &mut rest[0] {
        let changes = facts::changes(touched, before, after);
        // The record must fit into the ledger; a great change has a checkpoint of its own.
        let few = size(&changes) <= FACTS_MAX;
        *recorded = few.then_some(changes);
        if few && !state.ops.due.iter().any(|due| Some(&due.name) == checkpoint.as_ref()) {
            *checkpoint = None;
        }
    }
    write(state, rest, now, &mut batch);
    batch
}

/// An operation that changes a great deal is undone by returning to the state before it.
fn keep_large(state: &State, events: &mut Vec<Event>) {
    let Some(Event::Operation { kind, checkpoint: None, .. }) = events.last() else { return };
    let mut bytes = Vec::new();
    events.iter().for_each(|event| event.write(&mut bytes));
    let resets = events.iter().any(|e| matches!(e, Event::PlanReset {})) && state.tasks.len() > MANY_TASKS;
    if state.plan.is_none() || !state.policy.checkpoints.before_risky || !(resets || bytes.len() > LARGE) {
        return;
    }
    let trigger = kind.clone();
    let name = checkpoints::unused(state, &format!("before-{}", kind.replace(' ', "-")));
    if let Some(Event::Operation { checkpoint, .. }) = events.last_mut() {
        *checkpoint = Some(name.clone());
    }
    events.insert(0, Event::CheckpointDue { name, trigger, full: true, seq: None });
}
