//! One turn of the circle up to the disk: the events of one input, taken in, with all that follows from them.

use swarm_protocol::event::Event;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::input::Input;
use crate::operation::written::take_in;
use crate::react::react;
use crate::settle::settle;
use crate::state::State;

/// Decides an input and takes the decision in. What comes back is one batch of the ledger:
/// written whole or not at all.
pub fn step(state: &mut State, input: Input, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    let mut events = react(state, input, now)?;
    take_in(state, &mut events, now);
    loop {
        let more = settle(state, now);
        if more.is_empty() {
            return Ok(events);
        }
        for event in &more {
            state.apply(event, now);
        }
        events.extend(more);
    }
}
