//! A merged tree is red. Whose fault is it? Trunk alone is verified, each of its commits once: green,
//! and the task goes back to work; red, and nobody is blamed but the swarm pauses until trunk moves.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::{Next, PauseReason};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::time::Timestamp;

use crate::planted::{self, Bug};
use crate::state::{State, Task};
use crate::text::times;

/// What a red verification of the merged tree leads to.
pub(super) struct Red<'a> {
    pub id: TaskId,
    pub task: &'a Task,
    pub run: &'a RunId,
    pub base: &'a Oid,
    pub result: &'a Oid,
}

pub(super) fn red(state: &State, red: Red<'_>, output: String, now: Timestamp) -> Vec<Event> {
    let Red { id, task, run, base, result } = red;
    if !task.parts.is_empty() {
        // It was trunk itself that was verified, with the parts of the task on it.
        return judged(state, Red { id, task, run, base, result }, false, output, String::new(), now);
    }
    let output = crate::text::tail(&output);
    // A merge that brought nothing of its own tells about trunk already, but not whose it is.
    let known = state.green.contains(base) || base == result || planted::is(Bug::RedTrunkBlamed);
    if known {
        return with_its_work(task, sent_back(state, id.clone(), task, run, output, now), &id);
    }
    vec![Event::VerificationRed { task: id, run: run.clone(), base: base.clone(), output }]
}

/// Trunk alone has been verified. `merged` is what the merged tree said.
pub(super) fn judged(
    state: &State,
    red: Red<'_>,
    green: bool,
    output: String,
    merged: String,
    now: Timestamp,
) -> Vec<Event> {
    let Red { id, task, run, base, .. } = red;
    let output = crate::text::tail(&output);
    let judged = Event::TrunkJudged {
        task: id.clone(),
        run: run.clone(),
        commit: base.clone(),
        green,
        output: output.clone(),
    };
    if green {
        let back = with_its_work(task, sent_back(state, id.clone(), task, run, merged, now), &id);
        return std::iter::once(judged).chain(back).collect();
    }
    let why = format!("trunk alone is red at {}", base.short());
    let mut events = vec![judged, Event::MergeInterrupted { task: id, status: Status::Merging, why }];
    if !state.paused.contains_key(&PauseReason::Trunk) {
        let why = format!("trunk fails its verification at {}:\n{output}", base.short());
        events.push(Event::Paused { reason: PauseReason::Trunk, why });
    }
    events
}

fn with_its_work(task: &Task, back: Event, id: &TaskId) -> Vec<Event> {
    std::iter::once(back).chain(super::conflict::lies_there_again(task, id)).collect()
}

/// The task's own work is red on a green trunk.
fn sent_back(state: &State, id: TaskId, task: &Task, run: &RunId, output: String, now: Timestamp) -> Event {
    let rounds = task.merge_rounds + 1;
    let next = if let Some(next) = super::conflict::after_red(task) {
        next
    } else if rounds >= state.policy.merge_rounds {
        let why = format!("the merged tree failed its verification {}", times(rounds));
        Next::Blocked { block: BlockKind::Retries, why }
    } else {
        Next::Pending { not_before: now, counts: false }
    };
    Event::VerificationFailed { task: id, status: next.status(), run: run.clone(), output, next }
}

/// Trunk is no longer where it was found red.
pub(super) fn changed(state: &State, watched: &Oid, now: &Oid) -> Vec<Event> {
    let waits = state.paused.contains_key(&PauseReason::Trunk);
    match &state.red_trunk {
        Some(red) if waits && red.commit == *watched && watched != now => {
            vec![Event::Resumed { reason: PauseReason::Trunk }]
        }
        _ => vec![],
    }
}
