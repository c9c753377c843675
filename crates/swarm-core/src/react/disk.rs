//! The room on the disk passed one of its two marks.

use swarm_protocol::event::Event;
use swarm_protocol::outcome::PauseReason;

use crate::planted::{self, Bug};
use crate::state::State;

/// Iterations under way go on to their boundary; nothing new starts until there is room.
pub(super) fn disk(state: &State, low: bool, why: String) -> Vec<Event> {
    let (reason, paused) = (PauseReason::Disk, state.paused.contains_key(&PauseReason::Disk));
    match (low, paused) {
        (true, false) => vec![Event::Paused { reason, why: crate::text::tail(&why) }],
        (false, true) if !planted::is(Bug::PauseNobodyEnds) => vec![Event::Resumed { reason }],
        _ => vec![],
    }
}
