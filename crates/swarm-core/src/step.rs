//! One turn of the circle up to the disk: the events of one input, taken in, with all that follows from them.
//! The only place where `react`, `apply` and `settle` meet: the product and the simulator both turn here.

mod taken_in;

use swarm_protocol::event::Event;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::dues;
use crate::input::Input;
use crate::react::react;
use crate::settle::settle;
use crate::state::State;
use taken_in::take_in;

/// Decides an input and takes the decision in. What comes back is one batch of the ledger:
/// written whole or not at all, at the time that the state has then.
pub fn step(state: &mut State, input: Input, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    first_step(state, input, now, "")
}

/// As [`step`], where the decision may be the first one of a ledger. `ledger_id` is drawn by the caller,
/// so that no two ledgers are ever taken for one: there is no chance in here.
pub fn first_step(
    state: &mut State,
    input: Input,
    now: Timestamp,
    ledger_id: &str,
) -> Result<Vec<Event>, Refusal> {
    // Records never go back in time, whatever clock the caller has.
    let now = now.max(state.at);
    let mut events = react(state, input, now)?;
    for event in &mut events {
        if let Event::PlanCreated { ledger_id: id, .. } = event
            && id.is_empty()
        {
            *id = ledger_id.into();
        }
    }
    let mut batch = take_in(state, events, now);
    loop {
        let more = settle(state, now);
        if more.is_empty() {
            return Ok(batch);
        }
        write(state, more, now, &mut batch);
    }
}

/// Takes events in, each with what falls due because of it, and appends all of them to the batch.
pub(crate) fn write(state: &mut State, events: Vec<Event>, now: Timestamp, batch: &mut Vec<Event>) {
    for event in events {
        let before = dues::Before::of(state, &event);
        state.apply(&event, now);
        let due = dues::of(state, &event, &before, now);
        batch.push(event);
        for event in due {
            state.apply(&event, now);
            batch.push(event);
        }
    }
}

/// Whether nothing more follows from the state by itself. After a step it is so.
pub fn is_settled(state: &State, now: Timestamp) -> Result<(), Vec<Event>> {
    let more = settle(state, now.max(state.at));
    if more.is_empty() { Ok(()) } else { Err(more) }
}
