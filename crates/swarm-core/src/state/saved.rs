//! A task in the form that a checkpoint, a fact and a rollback know it by.

use std::collections::BTreeMap;

use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{SavedStage, SavedTask};

use crate::stage::Stage;
use crate::state::{State, Task};

/// The stage as it can be set back: who works comes back as somebody who may start again.
pub fn stage(task: &Task) -> SavedStage {
    match &task.stage {
        Stage::Pending { .. } => {
            SavedStage::Pending { started: task.started, withheld: task.withheld.is_some() }
        }
        Stage::Preparing { .. }
        | Stage::Active { .. }
        | Stage::Restarting { .. }
        | Stage::Checking { .. } => SavedStage::Working,
        Stage::Review { tip, tree, .. } => {
            SavedStage::Review { tip: tip.clone(), tree: tree.clone(), base: task.base.clone() }
        }
        Stage::Approved { tip, tree, .. } | Stage::Merging { tip, tree, .. } => {
            SavedStage::Approved { tip: tip.clone(), tree: tree.clone(), base: task.base.clone() }
        }
        Stage::Done { proof } => SavedStage::Done { proof: proof.clone(), parts: task.parts.clone() },
        Stage::Gone { proof, why, work, .. } => {
            SavedStage::Gone { proof: proof.clone(), why: why.clone(), work: work.clone() }
        }
        Stage::Blocked { block, why, .. } => {
            SavedStage::Blocked { block: *block, why: why.clone(), was: handed_in(task) }
        }
        Stage::Failed { why, .. } => SavedStage::Failed { why: why.clone() },
        Stage::Timeout { why, .. } => SavedStage::Timeout { why: why.clone() },
        Stage::Deferred => SavedStage::Deferred { was: handed_in(task) },
        Stage::Cancelled => SavedStage::Cancelled,
        Stage::Split { parts, .. } => SavedStage::Split { parts: parts.clone() },
    }
}

/// What its work was before it was put off.
fn handed_in(task: &Task) -> Option<Box<SavedStage>> {
    task.was.clone().map(Box::new)
}

/// Everything of a task that a rollback brings back.
pub fn saved(task: &Task) -> SavedTask {
    SavedTask {
        stage: stage(task),
        waived: task.waived.clone(),
        base: task.base.clone(),
        worktree: task.worktree,
        left: task.left.clone(),
        wip: task.wip.clone(),
        session: task.session.clone(),
        last_agent: task.last_agent.clone(),
        last_failure: task.last_failure.clone(),
        retries: task.retries,
        review_rounds: task.review_rounds,
        merge_rounds: task.merge_rounds,
        landed_before: task.landed_before.clone(),
    }
}

/// Tasks that are not what they were then, with their form of then; none: there was no such task.
pub fn differing(now: &State, then: &State) -> BTreeMap<TaskId, Option<SavedTask>> {
    let added = now.tasks.keys().filter(|id| !then.tasks.contains_key(*id)).map(|id| (id.clone(), None));
    let changed = then.tasks.iter().filter_map(|(id, task)| {
        let was = saved(task);
        let same = now.task(id).is_some_and(|task| saved(task) == was);
        (!same).then(|| (id.clone(), Some(was)))
    });
    added.chain(changed).collect()
}
