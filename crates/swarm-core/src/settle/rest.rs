//! Whether anything will still happen without a person.

use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::Mode;
use swarm_protocol::review::Reviewer;

use super::wholes_turn;
use crate::effect::Effect;
use crate::flight::Flights;
use crate::limits::STOP_TRIES_MAX;
use crate::planted::{self, Bug};
use crate::ready::builds_on_trunk;
use crate::reviewer::reviewer;
use crate::state::{State, Task};

/// Whether ready tasks wait for a person to start them, and nothing else keeps them.
pub fn waits_for_start(state: &State) -> bool {
    let open = state.plan.as_ref().is_some_and(|p| !p.closed);
    let waits = |id: &TaskId| state.task(id).is_some_and(|task| state.needs_start(task));
    open && !state.draining && state.index.queue().any(waits)
}

/// Whether submitted work waits for a person to review it.
pub fn waits_for_review(state: &State) -> bool {
    let open = state.plan.as_ref().is_some_and(|p| !p.closed);
    let waits = |id: &TaskId| state.task(id).is_some_and(|task| waits_for_person(state, task));
    open && !state.draining && state.waiting_reviews().any(waits)
}

/// Whether nothing will happen any more without a person: no run, no merge, nothing that was let
/// start or waits for its moment. Tasks that wait for `swarm task start` or `swarm review` do not count: see
/// `waits_for_start` and `waits_for_review`.
pub fn rests(state: &State) -> bool {
    let ready = match state.mode() {
        Mode::Autopilot => {
            state.index.queue().any(|id| state.task(id).is_some_and(|task| task.withheld.is_none()))
        }
        Mode::SemiAuto => state.index.started().next().is_some(),
    };
    let waiting = state.plan.as_ref().is_some_and(|p| !p.closed)
        && !state.draining
        && (ready
            || state.index.restarting().next().is_some()
            || state.index.approved().any(|id| state.task(id).is_some_and(|t| builds_on_trunk(state, t)))
            || state.waiting_reviews().any(|id| state.task(id).is_some_and(|t| !waits_for_person(state, t)))
            || state.index.split().any(|id| wholes_turn(state, id)));
    state.runs.is_empty()
        && state.trunk_held_by.is_none()
        && !waiting
        && crate::owed::owed(state).iter().all(|effect| lets_rest(state, effect))
}

fn waits_for_person(state: &State, task: &Task) -> bool {
    reviewer(state, task) == Reviewer::Human
}

/// A watch ends with the loop. What is done and cannot be looked up is said and asked again at the next start:
/// a trunk that is gone comes back by a person, and nobody waits for that behind a command. Nor for what cannot be put back
/// before somebody makes room.
fn lets_rest(state: &State, effect: &Effect) -> bool {
    match effect {
        Effect::Prove { .. } => state.proof_failed.is_some(),
        Effect::Revive { task, .. } => state.task(task).is_some_and(|task| task.not_back().is_some()),
        effect => effect.key().is_watch(),
    }
}

/// Whether a swarm that was told to stop ends although something is owed: nothing is at work any more, and all that is owed
/// has failed too often in a row to be waited for. Nothing of it is forgotten: the next coordinator owes it too.
pub fn stops_short(state: &State, flights: &Flights) -> bool {
    let at_rest = state.draining && flights.is_idle() && state.runs.values().all(|run| run.ended);
    // Asked at every turn of the loop: what is owed is read off the state only where it matters.
    if !at_rest || planted::is(Bug::StopWithoutBound) {
        return false;
    }
    let tries = if planted::is(Bug::StopWithoutTrying) { 1 } else { STOP_TRIES_MAX };
    let given_up = |effect: &Effect| lets_rest(state, effect) || flights.failures(&effect.key()) >= tries;
    let owed = crate::owed::owed(state);
    owed.iter().any(|effect| !lets_rest(state, effect)) && owed.iter().all(given_up)
}

/// Whether no task is open and no operation is under way: nothing could be done even if nothing were paused.
pub fn nothing_left(state: &State) -> bool {
    rests(state) && state.ops.running.is_none() && state.tasks.values().all(|task| task.stage.is_closed())
}
