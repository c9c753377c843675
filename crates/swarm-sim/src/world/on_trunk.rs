//! Rules about trunk: one at a time, what is done was there, and nothing lands without what it builds on.

use swarm_core::effect::Effect;
use swarm_core::stage::Stage;
use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Gate;

use super::coordinator::Coordinator;
use super::oracle::{Broken, broken};
use super::truth::Truth;

/// The trunk is granted: no executor and no verification of another task may be at it.
pub fn trunk_is_free(task: &TaskId, c: &Coordinator) -> Result<(), Broken> {
    let rule = "the trunk is used by one at a time";
    let at_trunk = |e: &Effect| matches!(e, Effect::Build { .. } | Effect::Publish { .. });
    if let Some(executor) = c.executors.values().find(|h| at_trunk(&h.effect) && !h.reported) {
        return Err(broken(rule, format!("granted to {task} while an executor is at {:?}", executor.effect)));
    }
    let verifies =
        c.state.runs.iter().find(|(_, run)| run.kind == RunKind::Verify && !run.ended && run.task != *task);
    match verifies {
        Some((run, other)) => {
            Err(broken(rule, format!("granted to {task} while {run} verifies {}", other.task)))
        }
        None => Ok(()),
    }
}

/// A person may have reset trunk since the executor published: that is found when it is looked up.
pub fn published(proof: &Proof, truth: &Truth) -> Result<(), Broken> {
    match proof.commits.iter().find(|oid| !truth.trunk_had(oid)) {
        Some(oid) => Err(broken("done means on trunk", format!("{oid} never was on trunk"))),
        None => Ok(()),
    }
}

/// What is reviewed is what is merged: a rule that decides about lines makes something else of it.
pub fn built_as_reviewed(task: &TaskId, result: &Oid, c: &Coordinator, truth: &Truth) -> Result<(), Broken> {
    let Some(found) = c.state.task(task).filter(|_| truth.by_rule.contains(result)) else { return Ok(()) };
    let by_somebody = match found.spec.review.as_deref() {
        Some(word) => word != "none",
        None => c.state.policy.reviews,
    };
    match by_somebody && !found.waived.contains(&Gate::Review) {
        true => Err(broken("what a rule decided is reviewed", format!("{task} is built as {result}"))),
        false => Ok(()),
    }
}

/// What a task builds on is on trunk before it. If trunk has moved once more, publishing fails and says so.
pub fn built_on_trunk(task: &TaskId, base: &Oid, c: &Coordinator, truth: &Truth) -> Result<(), Broken> {
    let Some(found) = c.state.task(task).filter(|_| truth.trunk_tip() == *base) else { return Ok(()) };
    for before in &found.spec.depends {
        let Some(Stage::Done { proof: Some(proof) }) = c.state.task(before).map(|t| &t.stage) else {
            continue;
        };
        let off = proof.commits.iter().find(|oid| !truth.trunk_has(oid));
        if let Some(oid) = off.filter(|_| proof.accepted.is_none()) {
            let text = format!("{task} is built without {oid} of {before}");
            return Err(broken("nothing lands without what it builds on", text));
        }
    }
    Ok(())
}
