//! An attempt at a task, from the worktree to the end of its processes.

use swarm_protocol::channel::{IterationOutcome, RunKind};
use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, Oid, RunId, TaskId};
use swarm_protocol::outcome::{Ended, Next};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::time::Timestamp;

use super::aftermath::aftermath;
use super::failure::{arc, backoff_ms, class_of, shortened};
use super::{budget, message, nudge, quota};
use crate::limits::{OVERSTEPS_MAX, SESSION_MAX};
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{Message, Run, State, Task};

/// A work run that still counts, with its task. A report about any other changes nothing.
pub(super) struct Live<'a> {
    pub run: &'a RunId,
    pub id: &'a TaskId,
    pub agent: &'a AgentId,
    pub task: &'a Task,
    pub record: &'a Run,
}

pub(super) fn live<'a>(state: &'a State, run: &'a RunId) -> Option<Live<'a>> {
    let believed = planted::is(Bug::OldReportBelieved);
    let record = state.runs.get(run).filter(|r| !r.ended || believed)?;
    let task = state.task(&record.task)?;
    if task.stage.run() != Some(run) && !believed {
        return None;
    }
    Some(Live { run, id: &record.task, agent: record.agent.as_ref()?, task, record })
}

pub(super) fn prepared(state: &State, run: &RunId, branch: String, base: Oid, tip: Oid) -> Vec<Event> {
    match live(state, run) {
        Some(l) if matches!(l.task.stage, Stage::Preparing { .. }) => {
            let checks_again = checks_again(l.task, &tip).then(|| Event::CheckingResumed {
                task: l.id.clone(),
                status: Status::Active,
                run: run.clone(),
                iteration: 0,
                tip: tip.clone(),
            });
            let ready = Event::WorkspaceReady { task: l.id.clone(), run: run.clone(), branch, base, tip };
            [ready].into_iter().chain(checks_again).collect()
        }
        _ => vec![],
    }
}

/// Finished work whose checks were broken off is checked again, not done again: unless its branch has moved since, a
/// person has said something, or the attempt ended in a way that an agent should know of.
fn checks_again(task: &Task, tip: &Oid) -> bool {
    was_broken_off(task) && task.submitted.as_ref() == Some(tip) && !task.messages.iter().any(Message::waits)
}

pub(super) fn not_prepared(
    state: &State,
    run: &RunId,
    why: String,
    setup: bool,
    now: Timestamp,
) -> Vec<Event> {
    let Some(l) = live(state, run).filter(|l| matches!(l.task.stage, Stage::Preparing { .. })) else {
        return vec![];
    };
    let how = Ended::NoWorkspace { text: why.clone() };
    if setup {
        return vec![failed(state, &l, how, Next::Blocked { block: BlockKind::Setup, why }, now)];
    }
    give_up(state, &l, how, now)
}

pub(super) fn spawned(state: &State, run: &RunId, host: String) -> Vec<Event> {
    match live(state, run) {
        Some(l) if !l.record.spawned => {
            vec![Event::AgentSpawned { task: l.id.clone(), run: run.clone(), agent: l.agent.clone(), host }]
        }
        _ => vec![],
    }
}

/// What the daemon says at a boundary.
pub(super) struct Boundary {
    pub iteration: u32,
    pub outcome: IterationOutcome,
    pub tip: Option<Oid>,
    pub note: Option<String>,
    pub usage: Usage,
    pub session: Option<String>,
    /// What its prompt knew of the ledger.
    pub known: u64,
}

pub(super) fn boundary(state: &State, run: &RunId, boundary: Boundary, now: Timestamp) -> Vec<Event> {
    let Boundary { iteration, outcome, tip, note, usage, session, known } = boundary;
    let Some(l) = live(state, run) else { return vec![] };
    let Stage::Active { iteration: expected, .. } = &l.task.stage else { return vec![] };
    if iteration == 0 || iteration != *expected {
        return vec![]; // the daemon stands ready, or says again what is known
    }
    let task = l.id.clone();
    let mut events = vec![Event::Iteration {
        task: task.clone(),
        run: run.clone(),
        iteration,
        tip: tip.clone(),
        note,
        usage: (!usage.is_none()).then_some(usage),
        session: session.filter(|s| s.len() <= SESSION_MAX),
        class: class_of(&outcome),
    }];
    events.extend(message::landed(&l, iteration, known, class_of(&outcome)));
    let said = |signal: &str, text: &str| Event::Signal {
        task: task.clone(),
        run: run.clone(),
        signal: signal.into(),
        text: text.into(),
    };
    match (outcome, tip) {
        (IterationOutcome::Complete, Some(tip)) => {
            events.push(said("COMPLETE", ""));
            events.push(Event::WorkSubmitted {
                task,
                status: Status::Active,
                run: run.clone(),
                iteration,
                tip,
            });
        }
        (IterationOutcome::Complete | IterationOutcome::NoSignal, _) => {
            if iteration >= state.policy.max_iterations {
                let text = format!("{iteration} iterations without completion");
                events.extend(give_up(state, &l, Ended::Timeout { text }, now));
            } else {
                events.extend(budget::stops(state, &l, usage, now));
            }
        }
        (IterationOutcome::AsksHuman { text }, _) => {
            events.push(said("BLOCKED", &text));
            let next = Next::Blocked { block: BlockKind::Human, why: text.clone() };
            events.push(failed(state, &l, Ended::AsksHuman { text }, next, now));
        }
        (IterationOutcome::CannotDo { text }, _) => {
            events.push(said("FAILED", &text));
            let next = Next::Failed { why: text.clone() };
            events.push(failed(state, &l, Ended::CannotDo { text }, next, now));
        }
        (IterationOutcome::Crashed { code, signal, text }, _) => {
            events.extend(give_up(state, &l, Ended::Crashed { code, signal, text }, now));
        }
        (IterationOutcome::Failed { failure }, _) => {
            let failure = shortened(failure);
            match nudge::nudge(state, &l, iteration, &failure) {
                Some(nudged) => {
                    events.push(nudged);
                    events.extend(budget::stops(state, &l, usage, now));
                }
                None => events.extend(give_up(state, &l, Ended::Failed { failure }, now)),
            }
        }
        (IterationOutcome::NotStarted { text }, _) => {
            events.extend(give_up(state, &l, Ended::NotStarted { text }, now));
        }
    }
    events
}

pub(super) fn overstep(
    state: &State,
    task: TaskId,
    run: Option<RunId>,
    what: String,
    anybody: Option<bool>,
) -> Vec<Event> {
    match state.task(&task) {
        Some(t) if t.oversteps.saturating_sub(t.oversteps_seen) < OVERSTEPS_MAX => {
            vec![Event::Overstep { task, run, what: crate::text::tail(&what), anybody }]
        }
        _ => vec![],
    }
}

/// The daemon is no more. What it reported before has been taken in already.
pub(super) fn ended(state: &State, run: &RunId, how: Ended, now: Timestamp) -> Vec<Event> {
    if state.runs.get(run).is_some_and(|r| r.kind == RunKind::Probe) {
        return quota::probe_lost(state, run, how.describe(), now);
    }
    let Some(l) = live(state, run) else { return vec![] };
    if how == Ended::Stopped {
        let why = if state.draining { "the swarm stops" } else { "its daemon ended" };
        // Nobody asked it to end: later each time, until the law of claims asks a person.
        let wait_ms = if state.draining { 0 } else { backoff_ms(state, l.task.claims) };
        return vec![Event::AgentStopped {
            task: l.id.clone(),
            status: Status::Pending,
            run: run.clone(),
            agent: l.agent.clone(),
            why: why.into(),
            next: Next::Pending { not_before: now.plus_ms(wait_ms), counts: false },
            goes_on: Some(true),
        }];
    }
    let how = match how {
        Ended::Failed { failure } => Ended::Failed { failure: shortened(failure) },
        other => other,
    };
    give_up(state, &l, how, now)
}

pub(super) fn stopped(state: &State, run: &RunId, wip: Option<Oid>, session: Option<String>) -> Vec<Event> {
    // Only a run that has ended owes its stop; an executor that stopped another one was mistaken.
    let Some(ended) = state.runs.get(run).filter(|r| r.ended) else { return vec![] };
    let session = session.filter(|s| s.len() <= SESSION_MAX && goes_on_in_its_session(state, run, ended));
    vec![Event::AttemptStopped { task: ended.task.clone(), run: run.clone(), wip, session }]
}

/// Broken off in the middle, and what the program remembers is still so. How it failed says what becomes of the session
/// otherwise; and what a killed iteration has changed is taken back, which its session would not know.
fn goes_on_in_its_session(state: &State, run: &RunId, ended: &Run) -> bool {
    let Some(task) = state.task(&ended.task).filter(|_| ended.kind == RunKind::Work) else { return false };
    let was_killed = state.ops.rewinds.get(&ended.task).is_some_and(|rewind| rewind.run == *run);
    was_broken_off(task) && task.worked_under == ended.profile && !was_killed
}

fn was_broken_off(task: &Task) -> bool {
    matches!(task.last_end, Some(Ended::Stopped | Ended::Lost { .. } | Ended::Orphaned { .. }))
}

/// The clock of an attempt has run out.
pub(crate) fn out_of_time(state: &State, run: &RunId, now: Timestamp) -> Option<Vec<Event>> {
    let l = live(state, run)?;
    let text = match state.policy.max_task_secs {
        secs if secs < 120 => format!("no result within {secs} seconds"),
        secs => format!("no result within {} minutes", secs / 60),
    };
    Some(give_up(state, &l, Ended::Timeout { text }, now))
}

pub(super) fn give_up(state: &State, l: &Live<'_>, how: Ended, now: Timestamp) -> Vec<Event> {
    let super::failure::Consequences { next, then } = arc(state, l, &how, now);
    let mut events = vec![failed(state, l, how, next, now)];
    events.extend(then);
    events
}

fn failed(state: &State, l: &Live<'_>, how: Ended, next: Next, now: Timestamp) -> Event {
    let after = Some(aftermath(state, l, &how, &next, now));
    Event::AgentFailed {
        task: l.id.clone(),
        status: next.status(),
        run: l.run.clone(),
        agent: l.agent.clone(),
        how,
        next,
        after,
    }
}
