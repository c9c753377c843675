//! What follows from the state by itself: phases that are complete, snapshots that are due, clocks
//! that ran out, and the grants of what is scarce (slots, the trunk). One event at a time; asked
//! again until nothing follows, all in the batch of the input that made it possible.

use sha2::{Digest, Sha256};
use swarm_protocol::channel::RunKind;
use swarm_protocol::event::{Event, SnapshotData};
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;

use crate::effect::Effect;
use crate::limits::{CLOSE_HOLD_SECS, REVIEWS_AT_ONCE, SETUP_FAILURES_MAX};
use crate::operation::machine;
use crate::planted::{self, Bug};
use crate::react;
use crate::stage::{MergeStep, Stage};
use crate::state::{Agent, Run, State, Task};

/// The next thing that follows, or nothing.
pub fn settle(state: &State, now: Timestamp) -> Vec<Event> {
    let Some(plan) = state.plan.as_ref().filter(|p| !p.closed) else { return vec![] };
    let phase_ended = || {
        plan.phases
            .iter()
            .find(|p| !p.complete && !p.tasks.is_empty() && state.index.open_in_phase(p.id) == 0)
            .map(|p| Event::PhaseCompleted { phase: p.id })
    };
    let phase_open_again = || {
        let open = plan.phases.iter().find(|p| p.complete && state.index.open_in_phase(p.id) > 0);
        open.map(|p| Event::PhaseReopened { phase: p.id })
    };
    let one = |event: Option<Event>| event.map(|event| vec![event]);
    one(trunk_let_go(state))
        .or_else(|| one(phase_ended().or_else(phase_open_again)))
        .or_else(|| one(machine::settle(state, now)))
        .or_else(|| one(crate::hooks::settle(state)))
        .or_else(|| clock_ran_out(state, now))
        .or_else(|| one(snapshot_due(state)))
        .or_else(|| one(setup_fails(state)))
        .or_else(|| one(react::budget_pauses(state)))
        .or_else(|| one(close_given_up(state, now)))
        .or_else(|| one(react::quota_due(state, now)))
        .or_else(|| one(review_not_wanted(state)))
        .or_else(|| one(react::undelivered(state)))
        .or_else(|| one(trial(state)))
        .or_else(|| one(react::base_trial(state)))
        .or_else(|| one(review(state, now)))
        .or_else(|| one(restart(state, now)))
        .or_else(|| one(slot(state, now)))
        .or_else(|| one(whole(state)))
        .or_else(|| one(trunk(state, now)))
        .unwrap_or_default()
}

/// Planted: the trunk is given back although its executor has not reported.
fn trunk_let_go(state: &State) -> Option<Event> {
    let held_by = state.trunk_held_by.as_ref().filter(|_| planted::is(Bug::TrunkReleasedOnStageChange))?;
    let merging = state.task(held_by).is_some_and(|t| matches!(t.stage, Stage::Merging { .. }));
    (!merging).then(|| Event::TrunkReleased { task: held_by.clone() })
}

/// The first moment after `now` at which the clock alone changes something.
///
/// Without it nothing needs to look at the clock: an idle swarm sleeps.
pub fn wakes_at(state: &State, now: Timestamp) -> Option<Timestamp> {
    let attempts = state
        .runs
        .values()
        .filter(|r| !r.ended && r.kind == RunKind::Work)
        .map(|r| r.claimed_at.plus_secs(state.policy.max_task_secs))
        .filter(|at| *at > now);
    let closed = state.quotas.values().filter_map(|gate| gate.closed.as_ref());
    let probes = closed
        .filter(|closed| !closed.held && closed.probing.is_none())
        .map(|closed| closed.next_probe)
        .filter(|at| *at > now);
    let close = close_holds_until(state).filter(|at| *at > now);
    attempts.chain(probes).chain(close).chain(state.index.timer_after(now)).min()
}

fn close_holds_until(state: &State) -> Option<Timestamp> {
    state.paused.get(&PauseReason::Close).map(|pause| pause.since.plus_secs(CLOSE_HOLD_SECS))
}

/// Whoever wanted to close the plan has not come to the end, and may be dead: work goes on.
fn close_given_up(state: &State, now: Timestamp) -> Option<Event> {
    let over = close_holds_until(state).is_some_and(|at| at <= now) && state.ops.running.is_none();
    over.then_some(Event::Resumed { reason: PauseReason::Close })
}

fn clock_ran_out(state: &State, now: Timestamp) -> Option<Vec<Event>> {
    let due = |claimed: Timestamp| claimed.plus_secs(state.policy.max_task_secs) <= now;
    state
        .runs
        .iter()
        .filter(|(_, r)| !r.ended && r.kind == RunKind::Work && due(r.claimed_at))
        .find_map(|(id, _)| react::out_of_time(state, id, now))
}

fn snapshot_due(state: &State) -> Option<Event> {
    let every = state.policy.snapshot_every.max(state.tasks.len() as u64 / 10);
    if !state.snapshot_due && state.plan_events_since_snapshot < every {
        return None;
    }
    let plan = serde_json::to_value(crate::export::plan_file(state)).ok()?;
    let payload_hash = crate::hash::hex(&Sha256::digest(plan.to_string().as_bytes()));
    Some(Event::Snapshot { data: SnapshotData { plan: Some(plan), file: None, payload_hash } })
}

/// Whether anything new may be started at all.
pub(crate) fn dispatches(state: &State) -> bool {
    // What a task builds on may have gone from trunk: that is known first.
    let proven = state.proven.is_some() || !state.has_provable() || planted::is(Bug::DoneNotAsked);
    state.running && !state.draining && state.paused.is_empty() && machine::lets_start(state) && proven
}

fn slot(state: &State, now: Timestamp) -> Option<Event> {
    // Asked first: with a long queue it would be asked for every task.
    if !dispatches(state) || (state.quota_stops_everything() && !planted::is(Bug::ClosedGatePassed)) {
        return None;
    }
    let counts_ended = !planted::is(Bug::SlotGrantedBeforeStopped);
    let taken = match counts_ended {
        true if planted::is(Bug::RestartLosesSlot) => runs_at_work(state) as u32,
        true => state.slots_taken(),
        false => state.runs.values().filter(|r| r.kind == RunKind::Work && !r.ended).count() as u32,
    };
    let slots = state.plan.as_ref()?.profile.slots();
    if taken >= slots {
        return None;
    }
    let all = state.mode() == Mode::Autopilot || planted::is(Bug::GrantedWithoutStart);
    let may = |id: &&TaskId| may_start(state, id, now, counts_ended);
    let let_go = |id: &&TaskId| state.task(id).is_some_and(|t| t.withheld.is_none() && (all || t.started));
    let may_go = |id: &&TaskId| let_go(id) && may(id);
    let next = || if all { state.index.queue().find(may_go) } else { state.index.started().find(may_go) };
    let task = machine::first_in_line(state, may_go).or_else(next)?;
    let found = state.task(task)?;
    react::instead_of_start(state, task).or_else(|| {
        let profile = state.profile_for(found)?;
        let agent = machine::agent_for(state, task).unwrap_or_else(|| idle_agent(state));
        Some(claim(state, task, agent, profile))
    })
}

fn runs_at_work(state: &State) -> usize {
    state.runs.values().filter(|r| r.kind == RunKind::Work).count()
}

/// An agent that crashed begins again: same task, same worktree, once its old processes are gone. It
/// has its slot already, unless there are fewer now.
fn restart(state: &State, now: Timestamp) -> Option<Event> {
    let slots = state.plan.as_ref()?.profile.slots();
    if !dispatches(state) || runs_at_work(state) >= slots as usize {
        return None;
    }
    state.index.restarting().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Restarting { agent, not_before, .. } = &task.stage else { return None };
        if *not_before > now || state.has_run(id) {
            return None;
        }
        react::instead_of_start(state, id)
            .or_else(|| Some(claim(state, id, agent.clone(), state.profile_for(task)?)))
    })
}

fn may_start(state: &State, id: &TaskId, now: Timestamp, counts_ended: bool) -> bool {
    let due = state
        .task(id)
        .is_some_and(|t| matches!(t.stage, Stage::Pending { not_before, .. } if not_before <= now));
    // A merge that was interrupted may have published after all: until its executor has left the trunk
    // nobody knows whether there is anything left to do.
    let at_trunk = state.trunk_held_by.as_ref() == Some(id);
    let busy = |id: &TaskId| {
        let there = |r: &&Run| r.task == *id && r.kind != RunKind::Probe;
        state.runs.values().filter(there).any(|r| counts_ended || !r.ended)
    };
    // The first part begins where the whole was left: nobody may still be writing there.
    let whole = state.task(id).and_then(|t| t.parent.as_ref());
    let can_pay = || state.task(id).is_some_and(|t| state.profile_for(t).is_some());
    due && !at_trunk && !busy(id) && !whole.is_some_and(busy) && can_pay() && machine::may_take_up(state, id)
}

/// One that is in service and that no task keeps; a new one when there is none.
fn idle_agent(state: &State) -> AgentId {
    let kept = |id: &AgentId| {
        state
            .index
            .restarting()
            .filter_map(|task| state.task(task))
            .any(|task| matches!(&task.stage, Stage::Restarting { agent, .. } if agent == id))
    };
    let serves = |agent: &Agent| agent.degraded.is_none() || planted::is(Bug::DegradedGranted);
    let idle = state.agents.iter().find(|(id, a)| a.run.is_none() && serves(a) && !kept(id));
    idle.map_or_else(|| AgentId::nth(state.agents.len() as u64 + 1), |(id, _)| id.clone())
}

fn claim(state: &State, task: &TaskId, agent: AgentId, profile: &str) -> Event {
    let run = RunId::nth(state.runs_ever + 1);
    let attempt = state.task(task).map_or(0, |t| t.attempts) + 1;
    let nonce = nonce(state, &run);
    Event::TaskClaimed {
        task: task.clone(),
        status: Status::Active,
        run,
        agent,
        attempt,
        nonce,
        profile: (!profile.is_empty()).then(|| profile.into()),
    }
}

/// Names the processes of a run: nobody else's ledger has this id, and no other run of ours this number.
pub(crate) fn nonce(state: &State, run: &RunId) -> String {
    let ledger = state.plan.as_ref().map_or("", |p| p.ledger_id.as_str());
    let digest = Sha256::digest(format!("swarm run {run} of {ledger}").as_bytes());
    crate::hash::hex(&digest)[..32].to_string()
}

/// Worktrees could not be set up, alike and in a row: the next ones would fail too.
fn setup_fails(state: &State) -> Option<Event> {
    let failures = &state.setup_failures;
    let pauses = failures.count >= SETUP_FAILURES_MAX && !state.paused.contains_key(&PauseReason::Setup);
    pauses.then(|| Event::Paused {
        reason: PauseReason::Setup,
        why: format!("a worktree could not be set up {} times in a row: {}", failures.count, failures.text),
    })
}

/// A task waits for a review that nobody wants any more.
fn review_not_wanted(state: &State) -> Option<Event> {
    state.index.reviews().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Review { tip, tree, .. } = &task.stage else { return None };
        let wanted = state.policy.reviews && !task.waived.contains(&Gate::Review);
        (!wanted).then(|| react::approved(id.clone(), tip.clone(), tree.clone(), "none"))
    })
}

/// A review run takes no slot, but the worktree: nobody else may be in it.
fn review(state: &State, now: Timestamp) -> Option<Event> {
    let running = state.runs.values().filter(|r| r.kind == RunKind::Review).count();
    if !dispatches(state) || running >= REVIEWS_AT_ONCE {
        return None;
    }
    state.index.reviews().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Review { tip, not_before, .. } = &task.stage else { return None };
        let run = RunId::nth(state.runs_ever + 1);
        (*not_before <= now && !state.has_run(id)).then(|| Event::ReviewStarted {
            task: id.clone(),
            status: Status::Review,
            nonce: nonce(state, &run),
            run,
            tip: tip.clone(),
            round: task.review_rounds + 1,
        })
    })
}

/// Trunk alone is verified once the red verification has left the merge worktree. The merge is under
/// way already, so that a pause does not hold it.
fn trial(state: &State) -> Option<Event> {
    let id = state.trunk_held_by.as_ref().filter(|_| state.running)?;
    let Stage::Merging { step: MergeStep::Suspect { base, .. }, .. } = &state.task(id)?.stage else {
        return None;
    };
    if state.runs.values().any(|r| r.kind == RunKind::Verify) {
        return None;
    }
    let run = RunId::nth(state.runs_ever + 1);
    let nonce = nonce(state, &run);
    Some(Event::TrunkTrialStarted { task: id.clone(), run, nonce, commit: base.clone() })
}

/// All parts of a task are done, and trunk is known to be green with them.
fn whole(state: &State) -> Option<Event> {
    state.index.split().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Split { parts, .. } = &task.stage else { return None };
        react::parts_are_done(state, parts).then(|| react::done_at_once(state, id, task, parts)).flatten()
    })
}

fn trunk(state: &State, now: Timestamp) -> Option<Event> {
    let verifying = state.runs.values().any(|r| r.kind == RunKind::Verify);
    if !dispatches(state) || state.trunk_held_by.is_some() || verifying {
        return None;
    }
    let due = |id: &&TaskId| {
        state.task(id).is_some_and(|t| match t.stage {
            Stage::Approved { not_before, .. } => not_before <= now && builds_on_trunk(state, t),
            Stage::Split { not_before, .. } => not_before <= now && wholes_turn(state, id),
            _ => false,
        })
    };
    let task = state.index.split().find(due).or_else(|| state.index.approved().find(due))?;
    Some(Event::TrunkGranted { task: task.clone(), status: Status::Merging })
}

/// Whether what the task builds on is on trunk: it may have gone since the task was begun, and may be on its way back.
fn builds_on_trunk(state: &State, task: &Task) -> bool {
    not_on_trunk(state, task).next().is_none()
}

/// What the task builds on and has to be on trunk before it.
pub(crate) fn not_on_trunk<'a>(state: &'a State, task: &'a Task) -> impl Iterator<Item = &'a TaskId> {
    // What a person did by hand may come before what the plan says is first, but not upon work that has gone.
    let by_hand = task.last_agent.is_none();
    let awaited = move |id: &&TaskId| {
        state.task(id).is_some_and(|t| match t.stage {
            Stage::Gone { .. } => true,
            Stage::Done { .. } | Stage::Cancelled => false,
            _ => !by_hand,
        })
    };
    task.spec.depends.iter().filter(awaited)
}

/// Whether ready tasks wait for a person to start them, and nothing else keeps them.
pub fn waits_for_start(state: &State) -> bool {
    let open = state.plan.as_ref().is_some_and(|p| !p.closed);
    let waits = |id: &TaskId| state.task(id).is_some_and(|task| state.needs_start(task));
    open && !state.draining && state.index.queue().any(waits)
}

/// Whether nothing will happen any more without a person: no run, no merge, nothing that was let
/// start or waits for its moment. Tasks that wait for `swarm task start` do not count: see `waits_for_start`.
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
            || state.index.reviews().next().is_some()
            || state.index.split().any(|id| wholes_turn(state, id)));
    state.runs.is_empty()
        && state.trunk_held_by.is_none()
        && !waiting
        && crate::owed::owed(state).iter().all(|effect| lets_rest(state, effect))
}

/// A watch ends with the loop. What is done and cannot be looked up is said and asked again at the next start:
/// a trunk that is gone comes back by a person, and nobody waits for that behind a command.
fn lets_rest(state: &State, effect: &Effect) -> bool {
    let failing = matches!(effect, Effect::Prove { .. }) && state.proof_failed.is_some();
    effect.key().is_watch() || failing
}

/// Whether no task is open and no operation is under way: nothing could be done even if nothing were paused.
pub fn nothing_left(state: &State) -> bool {
    rests(state) && state.ops.running.is_none() && state.tasks.values().all(|task| task.stage.is_closed())
}

fn wholes_turn(state: &State, id: &TaskId) -> bool {
    state.task(id).is_some_and(
        |t| matches!(&t.stage, Stage::Split { parts, .. } if react::parts_are_done(state, parts)),
    )
}
