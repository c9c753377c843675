//! What follows from the state by itself: phases that are complete, snapshots that are due, clocks
//! that ran out, and the grants of what is scarce (slots, the trunk). One event at a time; asked
//! again until nothing follows, all in the batch of the input that made it possible.

mod council;
mod reservations;
mod rest;
mod slots;

use sha2::{Digest, Sha256};
use swarm_protocol::channel::RunKind;
use swarm_protocol::event::{Event, SnapshotData};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use crate::limits::{CLOSE_HOLD_SECS, REVIEWS_AT_ONCE, SETUP_FAILURES_MAX};
use crate::operation::machine;
use crate::planted::{self, Bug};
use crate::react;
use crate::ready::{builds_on_trunk, dispatches, nonce};
use crate::reviewer::{Judge, next_judge, reviewer};
use crate::stage::{MergeStep, Stage};
use crate::state::{Run, State, Task};

pub use rest::{nothing_left, rests, stops_short, waits_for_review, waits_for_start};
use slots::{restart, slot};

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
        .or_else(|| one(react::proposal_too_old(state, now)))
        .or_else(|| one(review_not_wanted(state)))
        .or_else(|| one(council::decides(state, now)))
        .or_else(|| one(react::undelivered(state)))
        .or_else(|| one(trial(state)))
        .or_else(|| one(react::base_trial(state)))
        .or_else(|| one(review(state, now)))
        .or_else(|| restart(state, now))
        .or_else(|| slot(state, now))
        // Behind the slots: whoever goes on at once keeps what it has.
        .or_else(|| one(reservations::ended(state, now)))
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
    let attempts = state.runs.values().filter_map(|run| runs_out(state, run)).filter(|at| *at > now);
    let closed = state.quotas.values().filter_map(|gate| gate.closed.as_ref());
    let probes = closed
        .filter(|closed| !closed.held && closed.probing.is_none())
        .map(|closed| closed.next_probe)
        .filter(|at| *at > now);
    let close = close_holds_until(state).filter(|at| *at > now);
    attempts
        .chain(probes)
        .chain(close)
        .chain(reservations::ends_at(state, now))
        .chain(state.proposals.waiting.values().map(|proposal| proposal.until).filter(|at| *at > now))
        .chain(state.index.timer_after(now))
        .min()
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
    if planted::is(Bug::AttemptWithoutBound) {
        return None;
    }
    let over = state.runs.iter().filter(|(_, run)| runs_out(state, run).is_some_and(|at| at <= now));
    over.map(|(id, _)| id).find_map(|id| react::out_of_time(state, id, now))
}

/// When the time of an attempt is over; none while a pause holds it, for whoever was told to wait works on nothing.
fn runs_out(state: &State, run: &Run) -> Option<Timestamp> {
    let counts = !run.ended && run.kind == RunKind::Work && run.held_since.is_none();
    counts.then(|| run.claimed_at.plus_secs(state.policy.max_task_secs).plus_ms(run.held_ms))
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
    state.waiting_reviews().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Review { tip, tree, .. } = &task.stage else { return None };
        let wanted = reviewer(state, task) != Reviewer::None;
        (!wanted).then(|| react::approved(id.clone(), tip.clone(), tree.clone(), "none"))
    })
}

/// A review run takes no slot, but the worktree: nobody may be in it but others that only read.
fn review(state: &State, now: Timestamp) -> Option<Event> {
    let running = state.runs.values().filter(|r| r.kind == RunKind::Review).count();
    if !dispatches(state) || running >= REVIEWS_AT_ONCE {
        return None;
    }
    state.index.reviews().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Review { tip, not_before, .. } = &task.stage else { return None };
        let run = RunId::nth(state.runs_ever + 1);
        let Judge { profile, member } = next_judge(state, task).filter(|_| *not_before <= now)?;
        Some(Event::ReviewStarted {
            profile,
            member,
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
            Stage::Approved { not_before, .. } => {
                not_before <= now && builds_on_trunk(state, t) && !waits_for_files(state, t)
            }
            Stage::Split { not_before, .. } => not_before <= now && wholes_turn(state, id),
            _ => false,
        })
    };
    let task = state.index.split().find(due).or_else(|| state.index.approved().find(due))?;
    // Whoever reviews it, now or by then: what rules decide may go onto its branch.
    let joins = state.task(task).is_some_and(|t| !t.worktree && t.parts.is_empty());
    Some(Event::TrunkGranted { task: task.clone(), status: Status::Merging, joins: joins.then_some(true) })
}

/// Files that it changes are reserved by others, as it was when it was last built.
fn waits_for_files(state: &State, task: &Task) -> bool {
    task.held_by.iter().any(|number| state.reservations.contains_key(number))
}

fn wholes_turn(state: &State, id: &TaskId) -> bool {
    state.task(id).is_some_and(
        |t| matches!(&t.stage, Stage::Split { parts, .. } if react::parts_are_done(state, parts)),
    )
}
