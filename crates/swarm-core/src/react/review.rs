//! The verdict on submitted work. It is bound to the run that was started for the tip: a verdict of
//! any other run, and so about any other tip, changes nothing.

use swarm_protocol::channel::Answered;
use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::judgement::Judgement;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::{Reviewer, Verdict};
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::council::{self, Seated};
use super::failure::backoff_ms;
use super::quota::Met;
use super::{quota, task, validate};
use crate::limits::{REVIEW_TRIES, REVIEWS_LOST_MAX, SESSION_MAX};
use crate::planted::{self, Bug};
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::{State, Task};
use crate::text::times;

pub(crate) fn approved(task: TaskId, tip: Oid, tree: Oid, policy: &str) -> Event {
    let (status, policy) = (Status::Merging, policy.into());
    Event::TaskApproved { task, status, tip, tree, policy, base: None, left_out: None }
}

/// The task whose review this run is now.
fn reviewing<'a>(state: &'a State, id: &TaskId, run: &RunId) -> Option<(&'a Task, &'a Oid, &'a Oid)> {
    let task = state.task(id)?;
    let Stage::Review { tip, tree, run: current, beside, .. } = &task.stage else { return None };
    let is_it = current.as_ref() == Some(run) || beside.contains(run) || planted::is(Bug::OldVerdictBelieved);
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
    if let Some(other) = by_another(state, run, &id, task, Reviewer::Command, now) {
        return vec![other];
    }
    if passed {
        return vec![approved(id, tip.clone(), tree.clone(), "command")];
    }
    let next = after_changes(state, task, now);
    let output = crate::text::tail(&output);
    vec![Event::ReviewFailed { task: id, status: next.status(), run: run.clone(), output, next }]
}

/// The verdict is not the one that is wanted any more.
fn by_another(
    state: &State,
    run: &RunId,
    id: &TaskId,
    task: &Task,
    asked: Reviewer,
    now: Timestamp,
) -> Option<Event> {
    let by = reviewer(state, task);
    let (why, next) = (format!("its reviewer is {} now", by.word()), Next::Review { not_before: now });
    let (task, status, run, counts) = (id.clone(), next.status(), run.clone(), Some(false));
    (by != asked).then_some(Event::ReviewLost { task, status, run, why, next, counts })
}

/// What the agent that reviews has said. It is read here and nowhere else: an answer that cannot be read is no verdict.
pub(super) fn answered(
    state: &State,
    run: &RunId,
    id: TaskId,
    answered: Answered,
    now: Timestamp,
) -> Vec<Event> {
    let Some((task, tip, tree)) = reviewing(state, &id, run) else { return vec![] };
    let Answered { text, failure, usage, session } = answered;
    let judgement = match &failure {
        None => Judgement::read(&text),
        Some(failure) => Err(failure.sentence()),
    };
    let member = state.runs.get(run).and_then(|run| run.member.as_ref());
    let mut events = vec![Event::ReviewAnswered {
        task: id.clone(),
        run: run.clone(),
        said: crate::text::tail(&match &judgement {
            Ok(judgement) if member.is_none() => judgement.summary.clone(),
            // Why there is none, or what the member of a council says, stands in what follows.
            _ => String::new(),
        }),
        usage: (!usage.is_none()).then_some(usage),
        session: session.filter(|session| session.len() <= SESSION_MAX),
    }];
    let asked = member.map_or(Reviewer::Agent, |_| Reviewer::Council);
    if let Some(other) = by_another(state, run, &id, task, asked, now) {
        events.push(other);
        return events;
    }
    if let Some(member) = member {
        let seat = Seated { run, id, task, tree, member };
        events.extend(council::spoke(state, seat, judgement, failure.as_ref(), now));
        return events;
    }
    match judgement {
        Ok(Judgement { voice, .. }) if voice.passes() => {
            events.push(approved(id, tip.clone(), tree.clone(), Reviewer::Agent.word()));
        }
        Ok(Judgement { notes, .. }) => {
            let (round, next) = (task.review_rounds + 1, after_changes(state, task, now));
            let (status, tip, run) = (next.status(), tip.clone(), Some(run.clone()));
            events.push(Event::ChangesRequested { task: id, status, tip, round, notes, next, run });
        }
        Err(why) => events.extend(no_verdict(state, run, id, task, failure.as_ref(), why, now)),
    }
    events
}

/// The agent could not review. The allowance that is used up closes its gate, and the review waits there with the rest.
fn no_verdict(
    state: &State,
    run: &RunId,
    id: TaskId,
    task: &Task,
    failure: Option<&Failure>,
    why: String,
    now: Timestamp,
) -> Vec<Event> {
    let why = crate::text::tail(&why);
    let record = state.runs.get(run);
    match (failure.map(|failure| (failure, failure.class.consequence())), record) {
        (Some((failure, Consequence::Quota)), Some(record)) => {
            let (next, run) = (Next::Review { not_before: now }, run.clone());
            let gate = quota::used_up(state, Met { task: &id, run: &run, record }, failure, now).then;
            let (status, counts) = (next.status(), Some(false));
            let lost = Event::ReviewLost { task: id, status, run, why, next, counts };
            std::iter::once(lost).chain(gate).collect()
        }
        (Some((_, Consequence::Setup)), _) => {
            let why = format!("the agent that reviews cannot work: {why}");
            let next = Next::Blocked { block: BlockKind::Review, why: why.clone() };
            let (status, run) = (next.status(), run.clone());
            vec![Event::ReviewLost { task: id, status, run, why, next, counts: None }]
        }
        _ => vec![without_verdict(
            state,
            run,
            id,
            task,
            why,
            state.policy.transient_max.min(REVIEW_TRIES),
            now,
        )],
    }
}

/// Back to work, until it was sent back too often.
pub(crate) fn after_changes(state: &State, task: &Task, now: Timestamp) -> Next {
    let round = task.review_rounds + 1;
    if round < state.policy.review_rounds {
        return Next::Pending { not_before: now, counts: false };
    }
    Next::Blocked { block: BlockKind::Review, why: format!("the review wanted changes {}", times(round)) }
}

/// A person's word about submitted work.
pub(super) fn judged(
    state: &State,
    id: TaskId,
    verdict: Verdict,
    now: Timestamp,
) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    let Some((tip, tree)) = task.submitted() else {
        return Err(task::wrong(state, &id, task, "reviewed"));
    };
    let by = reviewer(state, task);
    // Whatever agents will say, a person knows better.
    if !matches!(by, Reviewer::Human | Reviewer::Agent | Reviewer::Council) {
        return Err(Refusal::ReviewedBy { task: id, by });
    }
    match verdict {
        Verdict::Approve { tip: seen, .. } if seen != *tip => {
            Err(Refusal::ReviewedAnother { task: id, submitted: tip.clone(), seen })
        }
        Verdict::Approve { left_out, .. } => {
            let answer = format!("Task {id} is approved at {} and waits for its turn to merge", tip.short());
            let (status, policy) = (Status::Merging, Reviewer::Human.word().into());
            let begins = super::worktree::begins_again(&id, task);
            let (task, tip, tree) = (id, tip.clone(), tree.clone());
            let approved = Event::TaskApproved { task, status, tip, tree, policy, base: None, left_out };
            Ok(Outcome::new(begins.into_iter().chain([approved]).collect(), answer))
        }
        Verdict::NeedsChanges { notes } => {
            validate::notes(&notes)?;
            let round = task.review_rounds + 1;
            let next = match task.stage {
                // The rounds were spent already; a person gives one more.
                Stage::Blocked { .. } => Next::Pending { not_before: now, counts: false },
                _ => after_changes(state, task, now),
            };
            let answer = match &next {
                Next::Blocked { why, .. } => format!(
                    "The notes are kept; task {id} is blocked: {why}. `swarm task unblock {id}` lets an agent try again"
                ),
                _ => format!("Task {id} goes back to work with your notes"),
            };
            let (task, status, tip) = (id, next.status(), tip.clone());
            Ok(Outcome::new(
                vec![Event::ChangesRequested { task, status, tip, round, notes, next, run: None }],
                answer,
            ))
        }
    }
}

/// The run broke before it had a verdict: tried again, and no round is held against the task.
pub(super) fn lost(state: &State, run: &RunId, id: TaskId, why: String, now: Timestamp) -> Vec<Event> {
    let Some((task, _, tree)) = reviewing(state, &id, run) else { return vec![] };
    if let Some(member) = state.runs.get(run).and_then(|run| run.member.as_ref()) {
        return council::spoke(state, Seated { run, id, task, tree, member }, Err(why), None, now);
    }
    vec![without_verdict(state, run, id, task, why, state.policy.transient_max.min(REVIEWS_LOST_MAX), now)]
}

fn without_verdict(
    state: &State,
    run: &RunId,
    id: TaskId,
    task: &Task,
    why: String,
    most: u32,
    now: Timestamp,
) -> Event {
    let n = task.transient_retries + 1;
    let next = if n > most {
        let times = if n == 1 { String::new() } else { format!(" {n} times in a row, the last time") };
        Next::Blocked { block: BlockKind::Review, why: format!("the review had no verdict{times}: {why}") }
    } else {
        Next::Review { not_before: now.plus_ms(backoff_ms(state, n)) }
    };
    Event::ReviewLost { task: id, status: next.status(), run: run.clone(), why, next, counts: None }
}
