//! The way to trunk: built, verified, published, proven; and every way it does not work out.

use swarm_protocol::conflict::{self, Resolved};
use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::{Gate, Next, PauseReason};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::reservation::Reservation;
use swarm_protocol::time::Timestamp;

use super::conflict::lies_there_again;
use super::failure::backoff_ms;
use super::{reserve, trunk};
use crate::input::KeyName;
use crate::limits::{CHECKOUT_RETRY_SECS, EFFECT_FAILURES_MAX};
use crate::planted::{self, Bug};
use crate::ready::nonce;
use crate::stage::{MergeStep, Stage};
use crate::state::{State, Task, saved};
use crate::text::{first_of, first_paths};

/// The step of a task that holds the trunk now.
pub(super) fn merging<'a>(state: &'a State, id: &TaskId) -> Option<(&'a Task, &'a MergeStep)> {
    if state.trunk_held_by.as_ref() != Some(id) {
        return None;
    }
    let task = state.task(id)?;
    match &task.stage {
        Stage::Merging { step, .. } => Some((task, step)),
        _ => None,
    }
}

pub(super) struct Merged {
    pub base: Oid,
    pub result: Oid,
    pub commits: Vec<Oid>,
    pub squashed: bool,
    pub resolved: Vec<Resolved>,
    pub protected: Vec<String>,
    pub changed: Vec<String>,
    pub found: Vec<Oid>,
}

pub(super) fn built(state: &State, id: TaskId, merged: Merged) -> Vec<Event> {
    let Some((task, MergeStep::Building)) = merging(state, &id) else { return vec![] };
    let Merged { base, result, commits, squashed, resolved, protected, changed, found } = merged;
    if let Some(moved) = built_on_the_unknown(state, task, &base) {
        return moved;
    }
    if let Some(again) = super::conflict::unreviewed(state, task, &resolved) {
        return vec![again];
    }
    if let Some(waits) = unseen(task, protected) {
        return std::iter::once(waits).chain(lies_there_again(task, &id)).collect();
    }
    let reserved = reserve::reserved_by_others(state, task, &changed);
    let passed = match reserved.map(|reserved| reserve::merge_into(state, task, reserved)) {
        Some(Ok(passed)) => Some(passed),
        Some(Err(held)) => return vec![held],
        None => None,
    };
    let level = conflict::level(&resolved);
    let resolved = Some(first_of(resolved, |one| one.path.as_str())).filter(|some| !some.is_empty());
    let found = Some(found).filter(|found| !found.is_empty());
    let (task_id, to) = (id.clone(), result.clone());
    let built =
        Event::MergeBuilt { task: task_id, base, result: to, commits, squashed, level, resolved, found };
    let mut events: Vec<Event> = passed.into_iter().chain([built]).collect();
    let green_before = task.verified.as_ref() == Some(&result);
    if !state.policy.verifies || task.waived.contains(&Gate::Verify) || green_before {
        events.push(Event::VerificationPassed { task: id, run: None, commit: result });
    } else {
        let run = RunId::nth(state.runs_ever + 1);
        let nonce = nonce(state, &run);
        events.push(Event::VerificationStarted { task: id, run, nonce });
    }
    events
}

/// Files were reserved while the merge was verified, perhaps those that it changes: it is built once more, which asks for
/// that, and what was green needs no second run.
fn reserved_meanwhile(state: &State, id: TaskId, run: &RunId) -> Option<Event> {
    let began = state.runs.get(run)?.claimed_at;
    let later = |one: &Reservation| one.since >= began && one.task.as_ref() != Some(&id);
    state.reservations.values().any(|one| !one.files.is_empty() && later(one)).then(|| {
        let why = "files were reserved while it was verified; they are compared with its own".into();
        Event::MergeInterrupted { task: id.clone(), status: Status::Merging, why }
    })
}

/// What runs outside the walls, or says who may do what, does not change because agents agree about it.
fn unseen(task: &Task, protected: Vec<String>) -> Option<Event> {
    let seen = |path: &String| task.protected.contains(path);
    let Stage::Merging { tip, .. } = &task.stage else { return None };
    if protected.iter().all(seen) || planted::is(Bug::ProtectedUnseen) {
        return None;
    }
    let (task, tip, paths) = (task.spec.id.clone(), tip.clone(), protected);
    Some(Event::ProtectedTouched { task, status: Status::Review, tip, paths })
}

/// Trunk moved after it was looked up, and what the task builds on may have gone with that: the task gives its turn
/// back until it is known. Whoever builds on nothing needs not wait.
pub(super) fn built_on_the_unknown(state: &State, task: &Task, base: &Oid) -> Option<Vec<Event>> {
    let provable = |id: &TaskId| state.task(id).and_then(crate::state::provable).is_some();
    let known = state.proven.as_ref() == Some(base) || planted::is(Bug::DoneNotAsked);
    if known || !task.spec.depends.iter().any(provable) {
        return None;
    }
    let moved = state.proven.as_ref().map(|from| Event::TrunkMoved { from: from.clone(), to: base.clone() });
    let why = format!("trunk moved to {}, and what is done is looked up there first", base.short());
    let interrupted = Event::MergeInterrupted { task: task.spec.id.clone(), status: Status::Merging, why };
    Some(moved.into_iter().chain([interrupted]).collect())
}

pub(super) fn verified(
    state: &State,
    run: &RunId,
    id: TaskId,
    passed: bool,
    output: String,
    now: Timestamp,
) -> Vec<Event> {
    if let Some(events) = super::base::judged(state, run, passed, &output) {
        return events;
    }
    match merging(state, &id) {
        Some((task, MergeStep::Verifying { base, result, run: current, .. })) if current == run => {
            if passed {
                let (run, commit) = (Some(run.clone()), result.clone());
                let passed = Event::VerificationPassed { task: id.clone(), run, commit: commit.clone() };
                if task.parts.is_empty() {
                    return std::iter::once(passed).chain(reserved_meanwhile(state, id, current)).collect();
                }
                // There is nothing to publish: it was trunk that passed.
                let trunk = state.trunk.clone().unwrap_or_default();
                let commits = super::split::commits_of_parts(state, &task.parts);
                let mut events = vec![passed];
                events.extend(done(id, Proof::new(trunk, commit, commits)));
                return events;
            }
            trunk::red(state, trunk::Red { id, task, run, base, result }, output, now)
        }
        Some((task, MergeStep::Trial { base, output: merged, run: current })) if current == run => {
            let red = trunk::Red { id, task, run, base, result: base };
            trunk::judged(state, red, passed, output, merged.clone(), now)
        }
        _ => vec![],
    }
}

/// The run broke before it had a verdict: nobody's fault, built and started again.
pub(super) fn verification_lost(
    state: &State,
    run: &RunId,
    id: TaskId,
    why: String,
    now: Timestamp,
) -> Vec<Event> {
    if let Some(events) = super::base::lost(state, run, &why) {
        return events;
    }
    if merging(state, &id).and_then(|(_, step)| step.run()) != Some(run) {
        return vec![];
    }
    postpone(state, id, format!("the verification run broke: {why}"), now)
}

pub(super) fn published(state: &State, id: TaskId, proof: Proof) -> Vec<Event> {
    // A fact past its point of no return: it stands even if the person has cancelled meanwhile,
    // as long as this task is the one that holds the trunk.
    let Some(task) = state.task(&id).filter(|_| state.trunk_held_by.as_ref() == Some(&id)) else {
        return vec![];
    };
    // What was merged of it before is as much its work.
    let commits = task.landed_before.iter().filter(|commit| !proof.commits.contains(commit)).cloned();
    let commits = commits.chain(proof.commits.iter().cloned()).collect();
    done(id, Proof { commits, found: task.found.clone(), ..proof })
}

pub(super) fn done(id: TaskId, proof: Proof) -> Vec<Event> {
    vec![
        Event::MergeCompleted { task: id.clone(), proof: proof.clone() },
        Event::TaskStatusChanged {
            task: id,
            status: Status::Done,
            why: None,
            block: None,
            proof: Some(proof),
            was: None,
        },
    ]
}

/// What the executor says when a person's checkout is in the way.
pub(super) struct Waits {
    pub why: String,
    pub paths: Vec<String>,
    pub hint: String,
}

pub(super) fn waits(state: &State, id: TaskId, waits: Waits, now: Timestamp) -> Vec<Event> {
    let Some((_, MergeStep::Publishing { .. })) = merging(state, &id) else { return vec![] };
    let Waits { why, paths, hint } = waits;
    let (again_at, paths) = (Some(now.plus_secs(CHECKOUT_RETRY_SECS)), first_paths(paths));
    vec![Event::PublishWaits { task: id, why, paths, hint, again_at }]
}

pub(super) fn race_lost(state: &State, id: TaskId, trunk_now: Oid, now: Timestamp) -> Vec<Event> {
    let Some((task, MergeStep::Publishing { .. })) = merging(state, &id) else { return vec![] };
    let Stage::Merging { races, .. } = &task.stage else { return vec![] };
    if races + 1 >= state.policy.races_max {
        let why = format!("trunk moved {} times while the merge was verified", races + 1);
        return postpone(state, id, why, now);
    }
    vec![Event::RaceLost { task: id, trunk_now }]
}

pub(super) fn released(state: &State, id: TaskId) -> Vec<Event> {
    let merging = state.task(&id).is_some_and(|t| matches!(t.stage, Stage::Merging { .. }));
    if state.trunk_held_by.as_ref() == Some(&id) && !merging {
        vec![Event::TrunkReleased { task: id }]
    } else {
        vec![]
    }
}

pub(super) fn checkout_changed(state: &State, id: TaskId) -> Vec<Event> {
    match state.task(&id).map(|t| &t.stage) {
        Some(Stage::Approved { waits: Some(_), .. }) => vec![Event::CheckoutChanged { task: id }],
        _ => vec![],
    }
}

/// The world failed an executor. What is not decided here is still owed and will be asked for again
/// (a watch that cannot be set up does no harm: the clock brings the task back).
pub(super) fn effect_failed(
    state: &State,
    key: &KeyName,
    id: TaskId,
    why: String,
    now: Timestamp,
) -> Vec<Event> {
    match (key.verb.as_str(), &key.run) {
        ("Prepare", Some(run)) => super::work::not_prepared(state, run, why, false, now),
        ("Work", Some(run)) => {
            let how = swarm_protocol::outcome::Ended::Lost { text: why };
            super::work::ended(state, run, how, now)
        }
        ("Probe", Some(run)) => super::quota::probe_lost(state, run, why, now),
        ("Verify", Some(run)) => verification_lost(state, run, id, why, now),
        ("Review", Some(run)) => super::review::lost(state, run, id, why, now),
        ("Build" | "Publish", _) if merging(state, &id).is_some() => postpone(state, id, why, now),
        ("Stop", Some(run)) => super::nudge::not_stopped(state, run, &why),
        ("Remove", _) => super::worktree::kept(state, id, why),
        ("Rewind", _) => super::steps::not_rewound(state, id, why),
        ("Revive", _) => super::worktree::not_revived(state, id, why, None),
        _ => vec![],
    }
}

/// Back to the queue for the trunk, later; after too many in a row a person is asked. Not for a full disk: nothing is
/// merged until the pause for that is over, and it is tried again then.
fn postpone(state: &State, id: TaskId, why: String, now: Timestamp) -> Vec<Event> {
    let failures = state.task(&id).map_or(0, |t| t.effect_failures) + 1;
    let full = state.paused.contains_key(&PauseReason::Disk);
    let next = if failures >= EFFECT_FAILURES_MAX && !full {
        Next::Blocked { block: BlockKind::Setup, why: why.clone() }
    } else {
        Next::Approved { not_before: now.plus_ms(backoff_ms(state, failures)) }
    };
    let stays = matches!(next, Next::Approved { .. });
    let stopped = state.task(&id).filter(|_| !stays);
    let work = stopped.and_then(|task| lies_there_again(task, &id));
    // The work is as good as it was: it is merged again and not done again.
    let was = stopped.filter(|task| task.parts.is_empty()).map(saved::stage);
    let failed = Event::MergeFailed { task: id, status: next.status(), why, paths: vec![], next, was };
    std::iter::once(failed).chain(work).collect()
}
