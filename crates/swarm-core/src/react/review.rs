//! The verdict on submitted work. It is bound to the run that was started for the tip: a verdict of
//! any other run, and so about any other tip, changes nothing.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::{Reviewer, Verdict};
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::failure::backoff_ms;
use super::{task, validate};
use crate::planted::{self, Bug};
use crate::reviewer::reviewer;
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
    let by = reviewer(state, task);
    if by != Reviewer::Command {
        let (why, next) = (format!("its reviewer is {} now", by.word()), Next::Review { not_before: now });
        return vec![Event::ReviewLost { task: id, status: next.status(), run: run.clone(), why, next }];
    }
    if passed {
        return vec![approved(id, tip.clone(), tree.clone(), "command")];
    }
    let next = after_changes(state, task, now);
    let output = crate::text::tail(&output);
    vec![Event::ReviewFailed { task: id, status: next.status(), run: run.clone(), output, next }]
}

/// Back to work, until it was sent back too often.
fn after_changes(state: &State, task: &Task, now: Timestamp) -> Next {
    let round = task.review_rounds + 1;
    if round < state.policy.review_rounds {
        return Next::Pending { not_before: now, counts: false };
    }
    Next::Blocked { block: BlockKind::Review, why: format!("the review wanted changes {round} times") }
}

/// A person's word about submitted work.
pub(super) fn judged(
    state: &State,
    id: TaskId,
    verdict: Verdict,
    now: Timestamp,
) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    let Stage::Review { tip, tree, .. } = &task.stage else {
        return Err(task::wrong(state, &id, task, "reviewed"));
    };
    let by = reviewer(state, task);
    if by != Reviewer::Human {
        return Err(Refusal::ReviewedBy { task: id, by });
    }
    match verdict {
        Verdict::Approve { tip: seen } if seen != *tip => {
            Err(Refusal::ReviewedAnother { task: id, submitted: tip.clone(), seen })
        }
        Verdict::Approve { .. } => {
            let answer = format!("Task {id} is approved at {} and waits for its turn to merge", tip.short());
            Ok(Outcome::new(vec![approved(id, tip.clone(), tree.clone(), by.word())], answer))
        }
        Verdict::NeedsChanges { notes } => {
            validate::notes(&notes)?;
            let (round, next) = (task.review_rounds + 1, after_changes(state, task, now));
            let answer = match &next {
                Next::Blocked { why, .. } => format!(
                    "The notes are kept; task {id} is blocked: {why}. `swarm task unblock {id}` lets an agent try again"
                ),
                _ => format!("Task {id} goes back to work with your notes"),
            };
            let (task, status, tip) = (id, next.status(), tip.clone());
            Ok(Outcome::new(vec![Event::ChangesRequested { task, status, tip, round, notes, next }], answer))
        }
    }
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
