//! The verdict on submitted work. It is bound to the run that was started for the tip: a verdict of
//! any other run, and so about any other tip, changes nothing.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::time::Timestamp;

use super::failure::backoff_ms;
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{State, Task};

pub(crate) fn approved(task: TaskId, tip: Oid, tree: Oid, policy: &str) -> Event {
    Event::TaskApproved { task, status: Status::Merging, tip, tree, policy: policy.into(), base: None }
}

/// The task whose review this run is now.
fn reviewing<'a>(state: &'a State, id: &TaskId, run: &RunId) -> Option<(&'a Task, &'a Oid, &'a Oid)> {
    let task = state.task(id)?;
    let Stage::Review { tip, tree, run: current, .. } = &task.stage else { return None };
    let is_it = current.as_ref() == Some(run) || planted::is(Bug::OldVerdictBelieved);
    is_it.then_some((task, tip, tree))
}

pub(super) fn reviewed(
    state: &State,
    run: &RunId,
    id: TaskId,
    passed: bool,
    output: String,
    now: Timestamp,
) -> Vec<Event> {
    let Some((task, tip, tree)) = reviewing(state, &id, run) else { return vec![] };
    if passed {
        return vec![approved(id, tip.clone(), tree.clone(), "command")];
    }
    let round = task.review_rounds + 1;
    let next = if round >= state.policy.review_rounds {
        let why = format!("the review wanted changes {round} times");
        Next::Blocked { block: BlockKind::Review, why }
    } else {
        Next::Pending { not_before: now, counts: false }
    };
    let output = crate::text::tail(&output);
    vec![Event::ReviewFailed { task: id, status: next.status(), run: run.clone(), output, next }]
}

/// The run broke before it had a verdict: tried again, and no round is held against the task.
pub(super) fn lost(state: &State, run: &RunId, id: TaskId, why: String, now: Timestamp) -> Vec<Event> {
    let Some((task, ..)) = reviewing(state, &id, run) else { return vec![] };
    let n = task.transient_retries + 1;
    let next = if n > state.policy.transient_max {
        let why = format!("the review had no verdict {n} times in a row, the last time: {why}");
        Next::Blocked { block: BlockKind::Review, why }
    } else {
        Next::Review { not_before: now.plus_ms(backoff_ms(state, n)) }
    };
    vec![Event::ReviewLost { task: id, status: next.status(), run: run.clone(), why, next }]
}
