//! Plans that go back: to a checkpoint, behind a task's work, to the beginning of the session.

use std::collections::BTreeSet;

use serde_json::json;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{
    Checkpoint, FactChange, Force, Left, Plan, RefMove, SavedStage, SavedTask, Survey, WorktreeMove,
    WorktreeTo,
};
use swarm_protocol::refusal::Refusal;

use super::plan::{branch_ref, merged};
use super::{checkpoints, facts, saved, trunk};
use crate::stage::Stage;
use crate::state::{State, Task};

/// Everything back to a checkpoint.
pub fn rollback(
    state: &State,
    to: &str,
    force: Force,
    survey: &Survey,
    draft: &mut Plan,
) -> Result<(), Refusal> {
    let checkpoint = checkpoints::known(state, to)?.clone();
    if let Some(then) = &checkpoint.trunk {
        let command = format!("swarm rollback {to}");
        draft.trunk = trunk::towards(state, survey, then, force, &mut draft.says, &command)?;
    }
    for (id, was) in &survey.tasks {
        match (state.task(id), was) {
            (Some(task), Some(was)) => goes_back(id, task, was, draft),
            (Some(task), None) => put_off(id, task, draft),
            (None, Some(_)) => {
                draft.says.stays.push(format!("task {id} was removed since; `swarm op log` shows by what"));
            }
            (None, None) => {}
        }
    }
    branches_back(state, &checkpoint, survey, draft);
    draft.says.stays.push("delivered messages, hooks that ran, pushes and money spent".into());
    Ok(())
}

/// The task as it was then; who was at work, in review or merging then waits in the queue.
fn goes_back(id: &TaskId, task: &Task, was: &SavedTask, draft: &mut Plan) {
    let stage = match &was.stage {
        SavedStage::Working | SavedStage::Review { .. } | SavedStage::Approved { .. } => {
            SavedStage::Pending { started: true }
        }
        other => other.clone(),
    };
    set_stage(id, task, &stage, draft);
    if was.waived != task.waived {
        draft.facts.push(FactChange {
            fact: format!("task/{id}/waived"),
            before: serde_json::to_value(&task.waived).ok(),
            after: serde_json::to_value(&was.waived).ok(),
        });
    }
    set_base(id, task, was.base.as_ref(), draft);
    set_left(id, task, was.left.as_ref(), draft);
    draft.tasks.insert(id.clone(), SavedTask { stage, ..was.clone() });
}

/// Whether something that was given up is still to come back.
fn set_left(id: &TaskId, task: &Task, left: Option<&Left>, draft: &mut Plan) {
    if task.left.as_ref() != left {
        let value = |left: Option<&Left>| serde_json::to_value(left?).ok();
        let (before, after) = (value(task.left.as_ref()), value(left));
        draft.facts.push(FactChange { fact: format!("task/{id}/left"), before, after });
    }
}

fn set_base(id: &TaskId, task: &Task, base: Option<&Oid>, draft: &mut Plan) {
    if task.base.as_ref() != base {
        let text = |oid: Option<&Oid>| oid.map(|oid| json!(oid.as_str()));
        let (before, after) = (text(task.base.as_ref()), text(base));
        draft.facts.push(FactChange { fact: format!("task/{id}/base"), before, after });
    }
}

/// A task that did not exist then is kept, and waits for a word.
fn put_off(id: &TaskId, task: &Task, draft: &mut Plan) {
    if matches!(task.stage, Stage::Cancelled | Stage::Deferred) {
        return;
    }
    set_stage(id, task, &SavedStage::Deferred, draft);
    draft.says.tasks.push(format!("{id} was added since: kept, deferred"));
}

fn set_stage(id: &TaskId, task: &Task, stage: &SavedStage, draft: &mut Plan) {
    let now = saved::stage(task);
    if now == *stage {
        return;
    }
    draft.says.tasks.push(format!("{id}: {} → {}", now.word(), stage.word()));
    draft.facts.push(FactChange {
        fact: format!("task/{id}/stage"),
        before: serde_json::to_value(now).ok(),
        after: serde_json::to_value(stage).ok(),
    });
}

/// Branches and worktrees as the checkpoint has them.
fn branches_back(state: &State, checkpoint: &Checkpoint, survey: &Survey, draft: &mut Plan) {
    let ids: BTreeSet<&TaskId> = survey.tips.keys().chain(checkpoint.tips.keys()).collect();
    for id in ids {
        let Some(task) = state.task(id) else { continue };
        let (now, then) = (survey.tips.get(id), checkpoint.tips.get(id));
        let was_done = draft.tasks.get(id).map_or_else(
            || matches!(task.stage, Stage::Done { .. } | Stage::Cancelled),
            |was| matches!(was.stage, SavedStage::Done { .. } | SavedStage::Cancelled),
        );
        if was_done {
            continue; // what is closed needs no worktree; it goes by proof
        }
        if now != then {
            let (old, new) = (now.cloned(), then.cloned());
            draft.refs.push(RefMove { name: branch_ref(id), old, new });
        }
        let dirty = checkpoint.dirty.get(id);
        let unchanged = now == then && survey.dirty.get(id) == dirty && task.worktree;
        let to = match then {
            _ if unchanged => continue,
            Some(tip) if checkpoint.full => {
                let base = draft.tasks.get(id).and_then(|was| was.base.clone()).or(task.base.clone());
                WorktreeTo::Restored { base, tip: tip.clone(), dirty: dirty.cloned() }
            }
            Some(tip) => WorktreeTo::Clean { tip: tip.clone() },
            None if task.worktree => WorktreeTo::Gone,
            None => continue,
        };
        if survey.dirty.contains_key(id) {
            draft.says.work.push(format!("uncommitted work of {id} is kept in {}", draft.checkpoint));
        }
        draft.worktrees.push(WorktreeMove { task: id.clone(), to });
    }
}

/// Work of these tasks out of trunk, or off their branches.
pub fn task_rollback(
    state: &State,
    tasks: &[TaskId],
    force: Force,
    survey: &Survey,
    draft: &mut Plan,
) -> Result<(), Refusal> {
    let wanted: BTreeSet<Oid> = tasks.iter().flat_map(|id| merged(state, id)).collect();
    let revert = survey.since.iter().map(|c| c.oid.clone()).filter(|oid| wanted.contains(oid)).collect();
    let first = tasks.first().map_or("", TaskId::as_str);
    let command = format!("swarm task rollback {first}");
    draft.trunk = trunk::rebuild(survey, revert, vec![], force, &mut draft.says, &command)?;
    for id in tasks {
        let Some(task) = state.task(id) else { continue };
        let stage = SavedStage::Pending { started: false };
        set_stage(id, task, &stage, draft);
        let is_merged = matches!(task.stage, Stage::Done { .. });
        let base = task.base.clone().filter(|_| !is_merged);
        let fresh = SavedTask {
            stage,
            waived: task.waived.clone(),
            base: base.clone(),
            worktree: task.worktree,
            left: None,
            wip: None,
            session: None,
            last_agent: task.last_agent.clone(),
            last_failure: None,
            retries: 0,
            review_rounds: 0,
            merge_rounds: 0,
        };
        set_base(id, task, base.as_ref(), draft);
        set_left(id, task, None, draft);
        draft.tasks.insert(id.clone(), fresh);
        let tip = survey.tips.get(id);
        match (tip, base) {
            (Some(tip), Some(base)) => {
                if *tip != base {
                    let (old, new) = (Some(tip.clone()), Some(base.clone()));
                    draft.refs.push(RefMove { name: branch_ref(id), old, new });
                }
                if *tip != base || survey.dirty.contains_key(id) {
                    draft
                        .worktrees
                        .push(WorktreeMove { task: id.clone(), to: WorktreeTo::Clean { tip: base } });
                    draft.says.work.push(format!("the work of {id} is kept in {}", draft.checkpoint));
                }
            }
            // Merged work begins again at the present trunk.
            (Some(tip), None) => {
                draft.refs.push(RefMove { name: branch_ref(id), old: Some(tip.clone()), new: None });
                draft.worktrees.push(WorktreeMove { task: id.clone(), to: WorktreeTo::Gone });
            }
            (None, _) => {}
        }
    }
    draft.says.stays.push("delivered messages, hooks that ran, pushes and money spent".into());
    Ok(())
}

/// The session taken back: merged work becomes approved work whose merge is held.
pub fn abort(
    state: &State,
    to: &str,
    force: Force,
    survey: &Survey,
    draft: &mut Plan,
) -> Result<(), Refusal> {
    let checkpoint = checkpoints::known(state, to)?.clone();
    if let Some(then) = &checkpoint.trunk {
        draft.trunk = trunk::towards(state, survey, then, force, &mut draft.says, "swarm abort")?;
    }
    let gone: BTreeSet<&Oid> = survey.since.iter().map(|c| &c.oid).collect();
    for (id, landed) in &survey.landed {
        let Some(task) = state.task(id) else { continue };
        if draft.trunk.is_none() || !merged(state, id).iter().all(|oid| gone.contains(oid)) {
            continue; // merged before the session
        }
        let (tip, tree, base) = (landed.tip.clone(), landed.tree.clone(), Some(landed.base.clone()));
        let stage = SavedStage::Approved { tip, tree, base: base.clone() };
        set_stage(id, task, &stage, draft);
        set_base(id, task, base.as_ref(), draft);
        draft.tasks.insert(id.clone(), SavedTask { stage, base, worktree: false, ..saved::saved(task) });
    }
    for (id, tip) in &survey.tips {
        let open = state.task(id).is_some_and(|task| task.worktree && !task.stage.is_closed());
        if open {
            // The branch goes with the worktree, and comes back with it.
            draft.refs.push(RefMove { name: branch_ref(id), old: Some(tip.clone()), new: None });
            draft.worktrees.push(WorktreeMove { task: id.clone(), to: WorktreeTo::Gone });
            draft.says.work.push(format!("the worktree of {id} is kept in {}", draft.checkpoint));
        }
    }
    let why = "aborted".to_string();
    let before = facts::read(state, "pause/abort");
    draft.facts.push(FactChange { fact: "pause/abort".into(), before, after: Some(json!({ "why": why })) });
    draft.says.stays.push("delivered messages, hooks that ran, pushes and money spent".into());
    Ok(())
}
