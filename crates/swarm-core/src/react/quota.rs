//! Something keeps a whole group of profiles from working: its allowance is used up, its service is not to be had, its key is
//! not accepted. Its gate closes, nothing of the group is started, one small probe at a time asks whether it is back, and
//! opening it puts what waited first, once.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure, FailureClass, GateCause};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::failure::{Consequences, backoff_ms, with_hint};
use super::work::Live;
use crate::limits::{RESETS_MAX_SECS, SELDOM_SECS};
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{Closed, QuotaGate, Run, State, Task};

/// Whose run met it.
#[derive(Clone, Copy)]
pub(super) struct Met<'a> {
    pub task: &'a TaskId,
    pub run: &'a RunId,
    pub record: &'a Run,
}

impl<'a> From<&Live<'a>> for Met<'a> {
    fn from(l: &Live<'a>) -> Self {
        Self { task: l.id, run: l.run, record: l.record }
    }
}

/// The run's program said that the allowance is used up.
pub(super) fn used_up(state: &State, met: Met<'_>, failure: &Failure, now: Timestamp) -> Consequences {
    let next = Next::Pending { not_before: now, counts: planted::is(Bug::QuotaCounted) };
    let group = group_of(state, met);
    // It speaks of a time before the gate was opened; whoever starts now will see for themselves.
    if is_old_news(state, met, &group) && !planted::is(Bug::LateQuotaBelieved) {
        return Consequences::from(next);
    }
    Consequences { next, then: vec![closes(state, met, group, GateCause::Quota, failure, now)] }
}

/// The service failed. A task that meets this alone tries again by itself; when two of a group meet it, it is the weather: nobody
/// else is sent out into it, and one asks for all.
pub(super) fn weather(
    state: &State,
    l: &Live<'_>,
    failure: &Failure,
    next: Next,
    now: Timestamp,
) -> Consequences {
    let met = Met::from(l);
    let group = group_of(state, met);
    let meets_it_too = |other: &Task| {
        let waits = matches!(other.stage, Stage::Pending { .. });
        other.spec.id != *l.id && waits && is_weather(other) && meant_for(state, other) == group
    };
    let waits = matches!(next, Next::Pending { .. });
    let may_close = waits && is_of_service(failure.class) && state.quota_is_open(&group);
    if !may_close || is_old_news(state, met, &group) || !state.tasks_in_order().any(meets_it_too) {
        return Consequences::from(next);
    }
    let closed = closes(state, met, group, GateCause::Service, failure, now);
    Consequences { next, then: vec![closed] }
}

/// The key, the log-in or the purse: the first task that meets it asks a person, and the others wait behind the gate
/// instead of meeting it one by one.
pub(super) fn refused_key(state: &State, l: &Live<'_>, failure: &Failure, now: Timestamp) -> Consequences {
    let met = Met::from(l);
    let group = group_of(state, met);
    let closed = state.quotas.get(&group).and_then(|gate| gate.closed.as_ref());
    let is_known = closed.is_some_and(|closed| closed.cause == GateCause::Key);
    if is_known || is_old_news(state, met, &group) {
        return Consequences::from(Next::Pending { not_before: now, counts: false });
    }
    let next = match state.has_stand_in(l.task, &group) {
        true => Next::Pending { not_before: now, counts: false },
        false => Next::Blocked { block: BlockKind::Setup, why: with_hint(failure) },
    };
    Consequences { next, then: vec![closes(state, met, group, GateCause::Key, failure, now)] }
}

fn is_of_service(class: FailureClass) -> bool {
    matches!(class, FailureClass::Overloaded | FailureClass::Network)
}

/// The last thing that is known of its service.
fn is_weather(task: &Task) -> bool {
    task.transient_retries > 0 && task.failure.as_ref().is_some_and(|failure| is_of_service(failure.class))
}

fn meant_for(state: &State, task: &Task) -> String {
    state.quota_group(task.worked_under.as_deref().unwrap_or_else(|| state.preferred_profile(task)))
}

fn group_of(state: &State, met: Met<'_>) -> String {
    let meant = || state.task(met.task).map(|task| state.preferred_profile(task));
    state.quota_group(met.record.profile.as_deref().or_else(meant).unwrap_or_default())
}

/// The run was claimed before the gate was last opened: what it says is old.
fn is_old_news(state: &State, met: Met<'_>, group: &str) -> bool {
    met.record.nth <= state.quotas.get(group).map_or(0, |gate| gate.opened_after)
}

/// An agent that was asked in an operation met it: there is no run that could.
pub(super) fn closed_by(
    state: &State,
    task: &TaskId,
    profile: &str,
    failure: &Failure,
    now: Timestamp,
) -> Event {
    let (group, run) = (state.quota_group(profile), RunId::nth(0));
    closed_for(state, (task, &run), group, GateCause::Quota, failure, now)
}

fn closes(
    state: &State,
    met: Met<'_>,
    group: String,
    cause: GateCause,
    failure: &Failure,
    now: Timestamp,
) -> Event {
    closed_for(state, (met.task, met.run), group, cause, failure, now)
}

fn closed_for(
    state: &State,
    (task, run): (&TaskId, &RunId),
    group: String,
    cause: GateCause,
    failure: &Failure,
    now: Timestamp,
) -> Event {
    let (resets_at, next_probe) = schedule(state, cause, failure, 0, now);
    let (task, run, why) = (task.clone(), run.clone(), failure.sentence());
    Event::QuotaExhausted { task, group, run, why, resets_at, next_probe, cause: cause.named() }
}

/// When it comes back, and when to ask next.
fn schedule(
    state: &State,
    cause: GateCause,
    failure: &Failure,
    probes: u32,
    now: Timestamp,
) -> (Option<Timestamp>, Timestamp) {
    let regular = match cause {
        GateCause::Service => now.plus_ms(backoff_ms(state, probes + 1)),
        GateCause::Quota | GateCause::Key => now.plus_secs(state.policy.probe_secs.max(1)),
    };
    let resets_at = failure.resets_in_secs.map(|secs| now.plus_secs(secs.min(RESETS_MAX_SECS)));
    let Some(named) = resets_at.filter(|at| *at > now) else { return (resets_at, regular) };
    // It may be back before: somebody has bought more, or the moment was read wrong.
    let seldom = now.plus_secs(SELDOM_SECS.max(state.policy.probe_secs));
    (resets_at, named.min(seldom))
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
    let Some(failure) = failure else { return restored(state, group, "probe") };
    let closed = state.quotas.get(group).and_then(|gate| gate.closed.as_ref());
    let (before, probes) = closed.map_or((GateCause::Quota, 0), |closed| (closed.cause, closed.probes));
    // The service answers again, and what it says is for the tasks themselves to hear.
    if before == GateCause::Service && is_about_the_work(failure.class) {
        return restored(state, group, "probe");
    }
    let cause = cause_of(failure.class).unwrap_or(before);
    let quota = failure.class.consequence() == Consequence::Quota;
    let known = |f: Failure| if quota { f } else { Failure { resets_in_secs: None, ..f } };
    let (resets_at, next_probe) = schedule(state, cause, &known(failure.clone()), probes, now);
    vec![Event::QuotaProbeFailed {
        task: record.task.clone(),
        group: group.into(),
        run: run.clone(),
        why: crate::text::tail(&failure.sentence()),
        resets_at,
        next_probe,
        cause: cause.named(),
    }]
}

/// What a probe that failed knows for certain; that it had no answer says nothing new.
fn cause_of(class: FailureClass) -> Option<GateCause> {
    match class {
        FailureClass::Quota => Some(GateCause::Quota),
        FailureClass::Key | FailureClass::Billing => Some(GateCause::Key),
        _ => None,
    }
}

fn is_about_the_work(class: FailureClass) -> bool {
    use FailureClass::{Configuration, Denied, Looping, OutputCut, Overflow, OwnLimit, Refused};
    matches!(class, Configuration | Denied | Looping | OutputCut | Overflow | OwnLimit | Refused)
}

/// The gate is open, and what a refused key has blocked goes on without a word of its own.
fn restored(state: &State, group: &str, by: &str) -> Vec<Event> {
    let cause = state.quotas.get(group).and_then(|gate| gate.closed.as_ref()).map(|closed| closed.cause);
    let opened =
        Event::QuotaRestored { group: group.into(), by: by.into(), cause: cause.and_then(GateCause::named) };
    let met_it = |task: &&Task| {
        let blocked = matches!(task.stage, Stage::Blocked { block: BlockKind::Setup, .. });
        let by_key =
            task.failure.as_ref().is_some_and(|failure| cause_of(failure.class) == Some(GateCause::Key));
        blocked && by_key && meant_for(state, task) == group
    };
    let blocked = state.tasks_in_order().filter(|task| cause == Some(GateCause::Key) && met_it(task));
    let go_on = blocked.flat_map(|task| super::put_off::goes_on(state, &task.spec.id, task));
    std::iter::once(opened).chain(go_on).collect()
}

/// The gates of keys, opened by a person who tries again.
pub(super) fn refused_keys(state: &State) -> impl Iterator<Item = Event> {
    let of_key = |gate: &QuotaGate| gate.closed.as_ref().is_some_and(|closed| closed.cause == GateCause::Key);
    state.quotas.iter().filter(move |(_, gate)| of_key(gate)).map(|(group, _)| opened_by_person(group))
}

fn opened_by_person(group: &str) -> Event {
    Event::QuotaRestored { group: group.into(), by: "person".into(), cause: Some(GateCause::Key) }
}

/// A person says that a task which a refused key has blocked may go on: the key is put right, for all.
pub(super) fn opened_for(state: &State, task: &Task) -> Option<Event> {
    let group = meant_for(state, task);
    let closed = state.quotas.get(&group)?.closed.as_ref()?;
    let by_key = task.failure.as_ref().is_some_and(|failure| cause_of(failure.class) == Some(GateCause::Key));
    (closed.cause == GateCause::Key && by_key).then(|| opened_by_person(&group))
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
            let cause = gate.closed.as_ref().and_then(|closed| closed.cause.named());
            return Some(Event::QuotaRestored { group: group.clone(), by: "clock".into(), cause });
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
    let what = closed(state, &group)?.cause.what(&group);
    let answer = format!("{}; waiting tasks go first", begins_large(format!("{what} is open")));
    Ok(Outcome::new(restored(state, &group, "person"), answer))
}

pub(super) fn hold(state: &State, group: String) -> Result<Outcome, Refusal> {
    let found = closed(state, &group)?;
    let what = begins_large(found.cause.what(&group));
    if found.held {
        return Err(Refusal::NothingToChange { what: format!("{what} is held already") });
    }
    let answer = format!("{what} stays closed until `swarm quota open {group}`");
    Ok(Outcome::new(vec![Event::QuotaHeld { group }], answer))
}

fn begins_large(text: String) -> String {
    text.replacen('t', "T", 1)
}
