//! The allowance of a group of profiles is used up. Its gate closes, nothing of the group is started,
//! one small probe at a time asks whether it is back, and opening it puts what waited first, once.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::failure::Consequences;
use crate::limits::RESETS_MAX_SECS;
use crate::planted::{self, Bug};
use crate::state::{Closed, Run, State};

/// The run's program said that the allowance is used up.
pub(super) fn used_up(
    state: &State,
    task: &TaskId,
    id: &RunId,
    run: &Run,
    failure: &Failure,
    now: Timestamp,
) -> Consequences {
    let next = Next::Pending { not_before: now, counts: planted::is(Bug::QuotaCounted) };
    let profile = run.profile.as_deref().or_else(|| state.task(task).map(|t| state.preferred_profile(t)));
    let group = state.quota_group(profile.unwrap_or_default());
    let opened_after = state.quotas.get(&group).map_or(0, |gate| gate.opened_after);
    // It speaks of a time before the gate was opened; whoever starts now will see for themselves.
    if run.nth <= opened_after && !planted::is(Bug::LateQuotaBelieved) {
        return Consequences::from(next);
    }
    let (resets_at, next_probe) = schedule(state, failure, now);
    let why = failure.sentence();
    let (task, run) = (task.clone(), id.clone());
    Consequences { next, then: vec![Event::QuotaExhausted { task, group, run, why, resets_at, next_probe }] }
}

/// When it comes back, and when to ask next.
fn schedule(state: &State, failure: &Failure, now: Timestamp) -> (Option<Timestamp>, Timestamp) {
    let resets_at = failure.resets_in_secs.map(|secs| now.plus_secs(secs.min(RESETS_MAX_SECS)));
    let regular = now.plus_secs(state.policy.probe_secs.max(1));
    (resets_at, resets_at.filter(|at| *at > now).unwrap_or(regular))
}

/// The group that this run probes now.
fn probed_group<'a>(state: &'a State, run: &RunId) -> Option<(&'a str, &'a Run)> {
    let record = state.current_run(run)?;
    let group = record.group.as_deref()?;
    let closed = state.quotas.get(group)?.closed.as_ref()?;
    (closed.probing.as_ref() == Some(run)).then_some((group, record))
}

pub(super) fn probed(state: &State, run: &RunId, failure: Option<Failure>, now: Timestamp) -> Vec<Event> {
    let Some((group, record)) = probed_group(state, run) else { return vec![] };
    let Some(failure) = failure else {
        return vec![Event::QuotaRestored { group: group.into(), by: "probe".into() }];
    };
    let quota = failure.class.consequence() == Consequence::Quota;
    let known = |f: Failure| if quota { f } else { Failure { resets_in_secs: None, ..f } };
    let (resets_at, next_probe) = schedule(state, &known(failure.clone()), now);
    vec![Event::QuotaProbeFailed {
        task: record.task.clone(),
        group: group.into(),
        run: run.clone(),
        why: crate::text::tail(&failure.sentence()),
        resets_at,
        next_probe,
    }]
}

/// The probe itself broke: asked again later.
pub(super) fn probe_lost(state: &State, run: &RunId, why: String, now: Timestamp) -> Vec<Event> {
    let failure = Failure::new(swarm_protocol::failure::FailureClass::Unknown, why);
    probed(state, run, Some(failure), now)
}

/// A gate whose moment has come: a probe, or nothing to ask for any more.
pub(crate) fn due(state: &State, now: Timestamp) -> Option<Event> {
    state.quotas.iter().find_map(|(group, gate)| {
        gate.closed.as_ref().filter(|c| is_due(c, now))?;
        // One that was told to stop may still be asking.
        let still_asking = |r: &Run| r.group.as_ref() == Some(group) && !planted::is(Bug::ProbedTwice);
        if state.runs.values().any(still_asking) {
            return None;
        }
        let waits = state.tasks_in_order().filter(|task| state.waits_for_group(task, group));
        let Some(task) = waits.max_by_key(|task| task.waits_for_quota.as_ref() == Some(group)) else {
            return Some(Event::QuotaRestored { group: group.clone(), by: "clock".into() });
        };
        if !crate::ready::dispatches(state) {
            return None;
        }
        let run = RunId::nth(state.runs_ever + 1);
        let nonce = crate::ready::nonce(state, &run);
        let own = state.preferred_profile(task);
        let profile = if state.quota_group(own) == *group { own } else { profile_of(state, group) };
        let (task, profile) = (task.spec.id.clone(), profile.to_string());
        Some(Event::QuotaProbeStarted { task, group: group.clone(), run, nonce, profile })
    })
}

/// Any profile of the group, when the task that waits is meant for another one.
fn profile_of<'a>(state: &'a State, group: &str) -> &'a str {
    let of_group = |rule: &&swarm_protocol::policy::ProfileRule| state.quota_group(&rule.name) == group;
    state.policy.profiles.iter().find(of_group).map_or(&state.policy.profile, |rule| &rule.name)
}

fn is_due(closed: &Closed, now: Timestamp) -> bool {
    let free = closed.probing.is_none() || (planted::is(Bug::ProbedTwice) && closed.probes < 3);
    !closed.held && free && closed.next_probe <= now
}

fn closed<'a>(state: &'a State, group: &str) -> Result<&'a Closed, Refusal> {
    state.quotas.get(group).and_then(|gate| gate.closed.as_ref()).ok_or_else(|| Refusal::NothingToChange {
        what: format!("The quota of {} is not used up", shown(group)),
    })
}

fn shown(group: &str) -> String {
    group.chars().filter(|c| !c.is_control()).take(64).collect()
}

pub(super) fn open(state: &State, group: String) -> Result<Outcome, Refusal> {
    closed(state, &group)?;
    let answer = format!("The quota of {group} is open; waiting tasks go first");
    Ok(Outcome::new(vec![Event::QuotaRestored { group, by: "person".into() }], answer))
}

pub(super) fn hold(state: &State, group: String) -> Result<Outcome, Refusal> {
    if closed(state, &group)?.held {
        return Err(Refusal::NothingToChange { what: format!("The quota of {group} is held already") });
    }
    let answer = format!("The quota of {group} stays closed until `swarm quota open {group}`");
    Ok(Outcome::new(vec![Event::QuotaHeld { group }], answer))
}
