//! Plans that go back: to a checkpoint, behind a task's work, to the beginning of the session.

use std::collections::BTreeSet;

use serde_json::json;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{
    Checkpoint, Fact, FactChange, Force, Left, Plan, RefMove, SavedStage, SavedTask, Survey, TaskPart,
    TrunkHow, WorktreeMove, WorktreeTo,
};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::refusal::Refusal;

use super::plan::{branch_ref, merged, merged_itself};
use super::{checkpoints, facts, trunk};
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::saved;
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
        let rewritten = rewritten(survey, |id| undone_by(state, survey, id));
        draft.trunk = trunk::towards(state, survey, (then, &rewritten), force, &mut draft.says, &command)?;
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

/// Commits of these tasks that are on trunk under another name, newest first.
fn rewritten(survey: &Survey, of: impl Fn(&TaskId) -> bool) -> Vec<Oid> {
    let tasks = survey.rewritten.iter().filter(|(id, _)| of(id));
    let mut commits: Vec<Oid> = Vec::new();
    for oid in tasks.flat_map(|(_, commits)| commits) {
        if !commits.contains(oid) {
            commits.push(oid.clone());
        }
    }
    commits
}

/// Whether the task is done now and was not then.
fn undone_by(state: &State, survey: &Survey, id: &TaskId) -> bool {
    let now = state.task(id).is_some_and(|task| task.stage.proof().is_some());
    let then = |was: &SavedTask| matches!(was.stage, SavedStage::Done { .. } | SavedStage::Gone { .. });
    now && survey.tasks.get(id).is_some_and(|was| !was.as_ref().is_some_and(then))
}

/// The task as it was then; who was at work, in review or merging then waits in the queue.
fn goes_back(id: &TaskId, task: &Task, was: &SavedTask, draft: &mut Plan) {
    let stage = match &was.stage {
        SavedStage::Working | SavedStage::Review { .. } | SavedStage::Approved { .. } => {
            SavedStage::Pending { started: true, withheld: false }
        }
        // Its branch may be another one then, and commits of a light checkpoint may be lost: no approval outlives that.
        other => other.clone().without_was(),
    };
    // Work that was handed in and had no branch any more, as after an abort: it is gone on with where it was.
    let left = was.left.clone().or_else(|| handed_in(was).filter(|_| !was.worktree));
    set_stage(id, task, &stage, draft);
    if was.waived != task.waived {
        draft.facts.push(FactChange {
            fact: Fact::Part(id.clone(), TaskPart::Waived),
            before: serde_json::to_value(&task.waived).ok(),
            after: serde_json::to_value(&was.waived).ok(),
        });
    }
    set_base(id, task, was.base.as_ref(), draft);
    set_left(id, task, left.as_ref(), draft);
    draft.tasks.insert(id.clone(), SavedTask { stage, left, ..was.clone() });
}

fn handed_in(was: &SavedTask) -> Option<Left> {
    match &was.stage {
        SavedStage::Review { tip, base: Some(base), .. }
        | SavedStage::Approved { tip, base: Some(base), .. } => {
            Some(Left { base: base.clone(), tip: tip.clone(), dirty: None })
        }
        _ => None,
    }
}

/// Whether something that was given up is still to come back.
fn set_left(id: &TaskId, task: &Task, left: Option<&Left>, draft: &mut Plan) {
    if task.left.as_ref() != left {
        draft.facts.push(facts::left(id, task.left.as_ref(), left));
    }
}

fn set_base(id: &TaskId, task: &Task, base: Option<&Oid>, draft: &mut Plan) {
    if task.base.as_ref() != base {
        let text = |oid: Option<&Oid>| oid.map(|oid| json!(oid.as_str()));
        let (before, after) = (text(task.base.as_ref()), text(base));
        draft.facts.push(FactChange { fact: Fact::Part(id.clone(), TaskPart::Base), before, after });
    }
}

/// A task that did not exist then is kept, and waits for a word.
fn put_off(id: &TaskId, task: &Task, draft: &mut Plan) {
    if matches!(task.stage, Stage::Cancelled | Stage::Deferred) {
        return;
    }
    set_stage(id, task, &SavedStage::Deferred { was: None }, draft);
    draft.says.tasks.push(format!("{id} was added since: kept, deferred"));
}

/// Where only what stands behind the word differs, a person would read that nothing changes.
pub(super) fn say_stage(id: &TaskId, now: &SavedStage, then: &SavedStage, draft: &mut Plan) {
    if now.word() != then.word() {
        draft.says.tasks.push(format!("{id}: {} → {}", now.word(), then.word()));
    }
}

fn set_stage(id: &TaskId, task: &Task, stage: &SavedStage, draft: &mut Plan) {
    let now = saved::stage(task);
    if now == *stage {
        return;
    }
    say_stage(id, &now, stage, draft);
    draft.facts.push(FactChange {
        fact: Fact::Part(id.clone(), TaskPart::Stage),
        before: serde_json::to_value(now).ok(),
        after: serde_json::to_value(stage).ok(),
    });
}

/// Branches and worktrees as the checkpoint has them.
fn branches_back(state: &State, checkpoint: &Checkpoint, survey: &Survey, draft: &mut Plan) {
    let ids: BTreeSet<&TaskId> = survey.tips.keys().chain(checkpoint.tips.keys()).collect();
    for id in ids {
        let Some(task) = state.task(id) else { continue };
        let base = draft.tasks.get(id).and_then(|was| was.base.clone()).or(task.base.clone());
        let base = base.filter(|_| !planted::is(Bug::BaseNotRestored));
        let (now, mut then) = (survey.tips.get(id), checkpoint.tips.get(id));
        let was_done = draft.tasks.get(id).map_or_else(
            || matches!(task.stage, Stage::Done { .. } | Stage::Gone { .. } | Stage::Cancelled),
            |was| {
                matches!(was.stage, SavedStage::Done { .. } | SavedStage::Gone { .. } | SavedStage::Cancelled)
            },
        );
        if was_done {
            continue; // what is closed needs no worktree; it goes by proof
        }
        // A light one does not wait for the disk: a power cut may have taken commits that an agent had just made.
        if !checkpoint.full && then.is_some_and(|tip| survey.missing.contains(tip)) {
            then = base.as_ref();
            draft.says.work.push(format!(
                "{id} begins again: its commits of that time are not in the repository any more"
            ));
        }
        if now != then {
            let (old, new) = (now.cloned(), then.cloned());
            draft.refs.push(RefMove { name: branch_ref(id), old, new });
        }
        let dirty = checkpoint.dirty.get(id);
        let unchanged = now == then && survey.dirty.get(id) == dirty && task.worktree;
        let to = match then {
            _ if unchanged => continue,
            // A light one knows the commits and not the files; where the commits begin is the ledger's to say.
            Some(tip) => {
                let dirty = dirty.filter(|_| checkpoint.full).cloned();
                WorktreeTo::Restored { base: base.clone(), tip: tip.clone(), dirty }
            }
            // Also one that a person made for a task that had none: left there, it would begin the task anew on commits that
            // are not on trunk any more.
            None if task.worktree || now.is_some() => WorktreeTo::Gone,
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
    let wanted: BTreeSet<Oid> = tasks.iter().flat_map(|id| merged_itself(state, id)).collect();
    if !wanted.is_empty() {
        trunk::there(survey)?;
    }
    let mut revert: Vec<Oid> =
        survey.since.iter().map(|c| c.oid.clone()).filter(|oid| wanted.contains(oid)).collect();
    revert.extend(rewritten(survey, |id| tasks.contains(id)));
    let first = tasks.first().map_or("", TaskId::as_str);
    let command = format!("swarm task rollback {first}");
    draft.trunk = trunk::rebuild(state, survey, (revert, vec![]), force, &mut draft.says, &command)?;
    say_absent(state, tasks, draft);
    for id in tasks {
        let Some(task) = state.task(id) else { continue };
        let stage = match task.parts.is_empty() {
            true => SavedStage::Pending { started: false, withheld: false },
            false => SavedStage::Split { parts: task.parts.clone() },
        };
        set_stage(id, task, &stage, draft);
        let is_merged = task.stage.proof().is_some();
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
            landed_before: vec![],
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
                    let to = WorktreeTo::Restored { base: Some(base.clone()), tip: base, dirty: None };
                    draft.worktrees.push(WorktreeMove { task: id.clone(), to });
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

/// Merged work that is not on trunk any more cannot be taken out of it.
fn say_absent(state: &State, tasks: &[TaskId], draft: &mut Plan) {
    let revert = match draft.trunk.as_ref().map(|moved| &moved.how) {
        Some(TrunkHow::Rebuild { revert, .. }) => revert.clone(),
        _ => vec![],
    };
    for id in tasks {
        let commits = merged_itself(state, id);
        if !commits.is_empty() && !commits.iter().any(|oid| revert.contains(oid)) {
            draft.says.commits.push(format!("the commits of {id} are not on trunk: nothing to take back"));
        }
    }
}

/// The session taken back: merged work becomes approved work whose merge is held. What people did meanwhile stays.
pub fn abort(
    state: &State,
    to: &str,
    force: Force,
    survey: &Survey,
    draft: &mut Plan,
) -> Result<(), Refusal> {
    let checkpoint = checkpoints::known(state, to)?.clone();
    let since: BTreeSet<&Oid> = survey.since.iter().map(|c| &c.oid).collect();
    let amended: BTreeSet<&Oid> = survey.rewritten.values().flatten().collect();
    let of_session = |id: &TaskId| {
        let commits = merged(state, id);
        let here = |oid: &Oid| since.contains(oid) || amended.contains(oid);
        matches!(state.task(id).map(|t| &t.stage), Some(Stage::Done { .. }))
            && !commits.is_empty()
            && commits.iter().all(here)
    };
    let taken: Vec<&TaskId> = survey.landed.keys().filter(|id| of_session(id)).collect();
    if let Some(then) = &checkpoint.trunk {
        let merges: BTreeSet<Oid> = taken.iter().flat_map(|id| merged(state, id)).collect();
        let rewritten = rewritten(survey, |id| taken.contains(&id));
        let (says, command) = (&mut draft.says, "swarm abort");
        draft.trunk = trunk::without(state, survey, then, (&merges, &rewritten), force, says, command)?;
    }
    for (id, landed) in &survey.landed {
        let Some(task) = state.task(id).filter(|_| draft.trunk.is_some() && taken.contains(&id)) else {
            continue; // merged before the session, or gone since
        };
        if !task.parts.is_empty() {
            // Its parts bring the work again; it waits for them.
            let stage = SavedStage::Split { parts: task.parts.clone() };
            set_stage(id, task, &stage, draft);
            draft.tasks.insert(id.clone(), SavedTask { stage, ..saved::saved(task) });
            continue;
        }
        let (tip, tree, base) = (landed.tip.clone(), landed.tree.clone(), Some(landed.base.clone()));
        let stage = SavedStage::Approved { tip, tree, base: base.clone() };
        set_stage(id, task, &stage, draft);
        set_base(id, task, base.as_ref(), draft);
        let was = SavedTask { landed_before: vec![], ..saved::saved(task) };
        draft.tasks.insert(id.clone(), SavedTask { stage, base, worktree: false, ..was });
    }
    for (id, tip) in &survey.tips {
        let open = state.task(id).is_some_and(|task| task.worktree && !task.stage.is_closed());
        if open {
            // The branch goes with the worktree, and comes back with it.
            draft.refs.push(RefMove { name: branch_ref(id), old: Some(tip.clone()), new: None });
            draft.worktrees.push(WorktreeMove { task: id.clone(), to: WorktreeTo::Gone });
            put_away(state, id, tip, draft);
            draft.says.work.push(format!(
                "the worktree of {id} comes back with `swarm run --retry`; a copy is kept in {}",
                draft.checkpoint
            ));
        }
    }
    let why = "aborted".to_string();
    let fact = Fact::Pause(PauseReason::Abort);
    let before = facts::read(state, &fact);
    draft.facts.push(FactChange { fact, before, after: Some(json!({ "why": why })) });
    draft.says.stays.push("delivered messages, hooks that ran, pushes and money spent".into());
    Ok(())
}

/// The task goes on with its work when the swarm does. What was not committed is known when it has been saved.
fn put_away(state: &State, id: &TaskId, tip: &Oid, draft: &mut Plan) {
    let Some(task) = state.task(id) else { return };
    let base = task.base.clone().unwrap_or_else(|| tip.clone());
    set_left(id, task, Some(&Left { base, tip: tip.clone(), dirty: None }), draft);
}
