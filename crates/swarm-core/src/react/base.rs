//! The checks of a task fail. Could any work make them pass? They are tried once on the commit that the task began
//! with, before another iteration is paid for: red there, and nobody is blamed but a person is asked.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::PauseReason;

use super::work::Live;
use crate::limits::EFFECT_FAILURES_MAX;
use crate::ready::{dispatches, nonce};
use crate::state::{State, Suspect};

/// The commit that nobody has tried the checks on yet, once they failed for a task that began with it.
pub(super) fn suspected(state: &State, l: &Live<'_>) -> Option<Event> {
    let base = l.task.base.as_ref().filter(|_| state.policy.check_bases)?;
    let known = state.bases.tried.contains(base) || state.bases.suspects.contains_key(base);
    (!known).then(|| Event::BaseSuspected { task: l.id.clone(), commit: base.clone() })
}

/// One trial at a time, in the worktree of merges.
pub(crate) fn trial(state: &State) -> Option<Event> {
    let verifying = || state.runs.values().any(|r| r.kind == swarm_protocol::channel::RunKind::Verify);
    let (commit, suspect) = state.bases.suspects.iter().find(|(_, suspect)| suspect.run.is_none())?;
    if !dispatches(state) || state.trunk_held_by.is_some() || verifying() {
        return None;
    }
    let run = RunId::nth(state.runs_ever + 1);
    let (task, nonce, commit) = (suspect.task.clone(), nonce(state, &run), commit.clone());
    Some(Event::BaseCheckStarted { task, run, nonce, commit })
}

fn tried_by<'a>(state: &'a State, run: &RunId) -> Option<(&'a Oid, &'a Suspect)> {
    state.bases.suspects.iter().find(|(_, suspect)| suspect.run.as_ref() == Some(run))
}

/// The verdict of a trial; none: the run was no trial.
pub(super) fn judged(state: &State, run: &RunId, green: bool, output: &str) -> Option<Vec<Event>> {
    let (commit, suspect) = tried_by(state, run)?;
    let output = crate::text::tail(output);
    let why = format!("the checks fail at {}, before any work is done:\n{output}", commit.short());
    let (task, run, commit) = (suspect.task.clone(), run.clone(), commit.clone());
    let mut events = vec![Event::BaseChecked { task, run, commit, green, output }];
    if !green && !state.paused.contains_key(&PauseReason::Checks) {
        events.push(Event::Paused { reason: PauseReason::Checks, why });
    }
    Some(events)
}

/// The trial broke before it had a verdict: tried again, and after some times left unknown.
pub(super) fn lost(state: &State, run: &RunId, why: &str) -> Option<Vec<Event>> {
    let (commit, suspect) = tried_by(state, run)?;
    let unknown = suspect.lost + 1 >= EFFECT_FAILURES_MAX;
    Some(vec![interrupted(&suspect.task, run, commit, why, unknown)])
}

fn interrupted(task: &TaskId, run: &RunId, commit: &Oid, why: &str, unknown: bool) -> Event {
    let (task, run, commit) = (task.clone(), run.clone(), commit.clone());
    Event::BaseCheckLost { task, run, commit, why: crate::text::tail(why), unknown }
}

/// Trials that are under way broken off; they are begun again later.
pub(super) fn broken_off(state: &State, why: &str) -> Vec<Event> {
    let under_way = state.bases.suspects.iter().filter_map(|(commit, s)| Some((commit, s, s.run.as_ref()?)));
    under_way.map(|(commit, s, run)| interrupted(&s.task, run, commit, why, false)).collect()
}
