//! When a reservation ends: with the work under it, or by the clock.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::reservation::Reservation;
use swarm_protocol::time::Timestamp;

use crate::ready::builds_on_trunk;
use crate::reservations::{TIME_IS_OVER, is_at_work};
use crate::stage::Stage;
use crate::state::State;

/// Whether the task still has something to do under it. What cannot go on without others keeps nothing from them.
fn is_needed(state: &State, id: &TaskId) -> bool {
    let Some(task) = state.task(id) else { return false };
    match task.stage {
        Stage::Preparing { .. }
        | Stage::Active { .. }
        | Stage::Restarting { .. }
        | Stage::Checking { .. }
        | Stage::Review { .. }
        | Stage::Merging { .. } => true,
        Stage::Approved { .. } => builds_on_trunk(state, task),
        _ => false,
    }
}

/// A reservation that has come to its end.
pub(super) fn ended(state: &State, now: Timestamp) -> Option<Event> {
    state.reservations.iter().find_map(|(number, one)| {
        let at_work = is_at_work(state, one);
        let over = one.task.as_ref().is_some_and(|id| !is_needed(state, id));
        let why = match at_work {
            true => return None,
            false if over => "its task is not worked on any more",
            false if one.until() <= now => TIME_IS_OVER,
            false => return None,
        };
        Some(Event::ReservationReleased { task: one.task.clone(), number: *number, why: why.into() })
    })
}

/// The next moment at which one runs out by the clock.
pub(super) fn ends_at(state: &State, now: Timestamp) -> Option<Timestamp> {
    let waiting = state.reservations.values().filter(|one| !is_at_work(state, one));
    waiting.map(Reservation::until).filter(|until| *until > now).min()
}
