//! What is done, asked again of git: is the work still on trunk? What has gone is a stage of its own, until
//! a person merges it again, has it done again, or accepts that it is gone.

use std::collections::BTreeMap;

use swarm_protocol::event::{Event, Proof, Standing};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{Landed, SavedStage, SavedTask};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{task, validate};
use crate::input::Missing;
use crate::stage::Stage;
use crate::state::saved;
use crate::state::{State, Task, provable};

/// Everything that is done was looked up at this commit of trunk; `missing` names what is not there, `standing` what is
/// there under other names.
pub(super) fn proven(
    state: &State,
    commit: Oid,
    missing: &BTreeMap<TaskId, Missing>,
    standing: &BTreeMap<TaskId, Standing>,
) -> Vec<Event> {
    let mut events = Vec::new();
    for (id, found) in &state.tasks {
        let Some(proof) = provable(found) else { continue };
        let mut now = proof.standing(standing.get(id));
        // Trunk may be another branch than the one it was merged into; it was looked up on the present one.
        now.trunk = state.trunk.clone().unwrap_or(now.trunk);
        match (&found.stage, missing.get(id)) {
            (Stage::Gone { why: known, .. }, Some(Missing { why, .. })) if known == why => {}
            // Gone for another reason than before is said as well: the way to bring it back may be another one.
            (Stage::Done { .. } | Stage::Gone { .. }, Some(Missing { why, work })) => {
                events.push(Event::WorkGone {
                    task: id.clone(),
                    status: Status::Gone,
                    proof: proof.clone(),
                    why: why.clone(),
                    work: work.clone(),
                });
            }
            (Stage::Gone { .. }, None) => {
                events.push(Event::WorkBack { task: id.clone(), status: Status::Done, proof: now });
            }
            (Stage::Done { .. }, None) if now != *proof => {
                events.push(Event::WorkRewritten { task: id.clone(), proof: now });
            }
            _ => {}
        }
    }
    if state.proven.as_ref() != Some(&commit) || state.proof_failed.is_some() {
        events.push(Event::TrunkProven { commit });
    }
    events
}

/// It could not be looked up: said once for each reason, and asked again.
pub(super) fn failed(state: &State, why: String) -> Vec<Event> {
    match &state.proof_failed {
        Some(known) if known.why == why => vec![],
        _ => vec![Event::ProofFailed { why }],
    }
}

/// Trunk is not at the commit that was watched.
pub(super) fn trunk_moved(state: &State, watched: &Oid, now: &Oid) -> Option<Event> {
    let moved = state.proven.as_ref() == Some(watched) && watched != now;
    moved.then(|| Event::TrunkMoved { from: watched.clone(), to: now.clone() })
}

/// Where the work lies that has gone from trunk, also of a task that was put off since.
pub(super) fn gone(found: &Task) -> Option<&Option<Landed>> {
    match (&found.stage, &found.was) {
        (Stage::Gone { work, .. }, _) | (_, Some(SavedStage::Gone { work, .. })) => Some(work),
        _ => None,
    }
}

/// Work that has gone waits for its turn to be merged again, as it was.
pub(super) fn merged_again(id: &TaskId, found: &Task) -> Option<Event> {
    let work = gone(found)?;
    if !found.parts.is_empty() {
        // Its parts bring the work; it waits for them as before.
        let (task, parts, why) = (id.clone(), found.parts.clone(), "its work is merged again".into());
        return Some(Event::TaskSplit { task, status: Status::Active, parts, why });
    }
    let Landed { base, tip, tree, stands } = work.clone()?;
    let base = Some(base);
    let stage = SavedStage::Approved { tip, tree, base: base.clone() };
    // What is on trunk all the same is not merged again, and is as much its work as what is.
    let saved = (!stands.is_empty()).then(|| {
        let stage = stage.clone();
        SavedTask { stage, base, landed_before: stands, ..saved::saved(found) }
    });
    Some(Event::TaskRestored {
        task: id.clone(),
        status: stage.status(),
        why: "its work is merged again".into(),
        stage: Some(stage),
        waived: None,
        saved,
    })
}

/// One task whose work has gone: merged again.
pub(super) fn merge_again(state: &State, id: &TaskId, found: &Task) -> Result<Outcome, Refusal> {
    match merged_again(id, found) {
        Some(event) => {
            let mut events = vec![event];
            // A part that has gone is not merged without its neighbours that went with it.
            events.extend(found.parts.iter().filter_map(|part| merged_again(part, state.task(part)?)));
            Ok(Outcome::new(events, format!("The work of task {id} is queued to be merged again")))
        }
        None => Err(task::wrong(state, id, found, "merged again: git does not have its commits any more")),
    }
}

/// Done as it is, on a person's word.
pub(super) fn accept(state: &State, id: TaskId, reason: String) -> Result<Outcome, Refusal> {
    let found = validate::known(state, &id)?;
    validate::reason(&reason)?;
    if reason.trim().is_empty() {
        return Err(Refusal::BadValue { what: "The reason".into(), why: "accepting needs one".into() });
    }
    let proof = match &found.stage {
        Stage::Gone { proof, .. } => proof.clone(),
        Stage::Blocked { block: BlockKind::Empty, .. } => {
            let trunk = state.trunk.clone().unwrap_or_default();
            let Some(commit) = state.proven.clone().or(found.base.clone()) else {
                return Err(task::wrong(state, &id, found, "accepted"));
            };
            Proof::new(trunk, commit, found.landed_before.clone())
        }
        _ => return Err(task::wrong(state, &id, found, "accepted")),
    };
    let answer = format!("Task {id} is accepted as done: {reason}");
    let proof = Some(Proof { accepted: Some(reason.clone()), ..proof });
    let (task, status, why, block) = (id, Status::Done, Some(reason), None);
    Ok(Outcome::new(vec![Event::TaskStatusChanged { task, status, why, block, proof, was: None }], answer))
}
