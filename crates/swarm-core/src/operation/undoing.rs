//! The plan of an undo that moves git: refs and worktrees back to what they were before the operation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{
    Fact, FactChange, Force, Left, Plan, RefMove, SavedStage, Survey, TaskPart, WorktreeMove, WorktreeTo,
};
use swarm_protocol::refusal::{Changed, Refusal};

use super::plan::{branch_ref, oid, refused, set_back, standing, trunk_fact};
use super::taking_back::say_stage;
use super::{trunk, undo};
use crate::planted::{self, Bug};
use crate::state::State;
use crate::state::operations::Record;
use crate::state::saved;

pub fn unmake(
    state: &State,
    record: &Record,
    partial: bool,
    force: Force,
    survey: &Survey,
    draft: &mut Plan,
) -> Result<(), Refusal> {
    let all = record.facts.as_deref().unwrap_or_default();
    let moved = trunk_fact(state, standing(state, record).facts.iter().flatten());
    if let Some((before, after)) = moved.and_then(|c| oid(c.before.as_ref()).zip(oid(c.after.as_ref()))) {
        let command = format!("swarm undo {}", record.seq);
        let kept_out = if partial { done_otherwise(state, record, force) } else { BTreeSet::new() };
        let (says, moved) = (&mut draft.says, (&before, &after));
        draft.trunk = trunk::unmoved(state, survey, moved, &kept_out, force, says, &command)?;
    }
    let mut changed = Vec::new();
    for change in all.iter().filter(|c| trunk_fact(state, all.iter()) != Some(*c)) {
        let Some(id) = change.fact.task_in_git() else { continue };
        match git_back(state, record, change, &id, survey) {
            Ok(Some(moved)) => add(moved, draft),
            Ok(None) => {}
            Err(Since { moved, changed: one }) => {
                if force.set_aside && undo::may_be_set_aside(state, record, &change.fact) {
                    set_aside(&id, draft);
                    add(moved, draft);
                } else {
                    changed.push(one);
                }
            }
        }
    }
    if !changed.is_empty() && !partial {
        return Err(refused(state, record, changed, true));
    }
    worktrees_follow(state, record, survey, draft);
    draft.facts = set_back(state, record, partial, force)?;
    let moves = draft.trunk.is_some() || !draft.refs.is_empty() || !draft.worktrees.is_empty();
    if partial && !moves && draft.facts.is_empty() {
        changed.extend(undo::split(state, record, force).changed);
        if !changed.is_empty() {
            return Err(refused(state, record, changed, false));
        }
    }
    let mut said = Vec::new();
    for change in &draft.facts {
        if let Fact::Part(id, TaskPart::Stage) = &change.fact {
            let stage = change.after.clone().and_then(|v| serde_json::from_value::<SavedStage>(v).ok());
            let (Some(stage), Some(task)) = (stage, state.task(id)) else { continue };
            said.push((id.clone(), saved::stage(task), stage));
        }
    }
    said.iter().for_each(|(id, now, then)| say_stage(id, now, then, draft));
    draft.says.stays.push("delivered messages, hooks that ran, pushes and money spent".into());
    Ok(())
}

/// Merged work that an undo of a part leaves where it is: its task is not what the operation made of it any more, and may
/// have brought other work to trunk since.
fn done_otherwise(state: &State, record: &Record, force: Force) -> BTreeSet<Oid> {
    let changed = undo::split(state, record, force).changed;
    let stays = |change: &&FactChange| changed.iter().any(|one| one.fact == change.fact);
    let before = record.facts.iter().flatten().filter(stays).filter_map(|change| change.before.clone());
    let stages = before.filter_map(|value| serde_json::from_value::<SavedStage>(value).ok());
    stages
        .flat_map(|stage| match stage {
            SavedStage::Done { proof: Some(proof), .. } => proof.own().to_vec(),
            _ => vec![],
        })
        .collect()
}

enum Back {
    Ref(RefMove),
    Dirty { task: TaskId, saved: Option<Oid> },
}

/// A fact that is not what the operation made of it any more: how it would go back all the same.
struct Since {
    moved: Back,
    changed: Changed,
}

fn set_aside(id: &TaskId, draft: &mut Plan) {
    let words = format!("what was done for {id} since is kept in {}", draft.checkpoint);
    if !draft.says.work.contains(&words) {
        draft.says.work.push(words);
    }
}

/// One fact of git set back, if it still is what the operation made of it.
fn git_back(
    state: &State,
    record: &Record,
    change: &FactChange,
    id: &TaskId,
    survey: &Survey,
) -> Result<Option<Back>, Since> {
    let (before, after) = (oid(change.before.as_ref()), oid(change.after.as_ref()));
    let is_ref = matches!(change.fact, Fact::Ref(_));
    let now = if is_ref { survey.tips.get(id) } else { survey.dirty.get(id) };
    if now == before.as_ref() {
        return Ok(None);
    }
    let moved = match is_ref {
        true => Back::Ref(RefMove { name: branch_ref(id), old: now.cloned(), new: before }),
        false => Back::Dirty { task: id.clone(), saved: before },
    };
    if now == after.as_ref() {
        return Ok(Some(moved));
    }
    let seen = now.map(|oid| json!(oid.as_str()));
    Err(Since { moved, changed: undo::changed(state, record, &change.fact, seen.as_ref()) })
}

fn add(moved: Back, draft: &mut Plan) {
    match moved {
        Back::Ref(moved) => draft.refs.push(moved),
        Back::Dirty { task, saved } => {
            let to = match saved {
                // The tip follows from the refs below.
                Some(dirty) => WorktreeTo::Restored { base: None, tip: dirty.clone(), dirty: Some(dirty) },
                None => WorktreeTo::Gone,
            };
            draft.worktrees.push(WorktreeMove { task, to });
        }
    }
}

/// Where the task's commits begin once the operation is undone: what it was before, where the operation
/// changed it. Without it the commits of the branch would count as trunk's and never be merged.
fn base_again(state: &State, record: &Record, id: &TaskId) -> Option<Oid> {
    if planted::is(Bug::BaseNotRestored) {
        return None;
    }
    let fact = Fact::Part(id.clone(), TaskPart::Base);
    let changed = record.facts.iter().flatten().find(|change| change.fact == fact);
    match changed {
        Some(change) => oid(change.before.as_ref()),
        None => state.task(id).and_then(|task| task.base.clone()).or_else(|| base_of_left(record, id)),
    }
}

/// Where the work began that the operation put away, for a task that has gone back to its beginning since.
fn base_of_left(record: &Record, id: &TaskId) -> Option<Oid> {
    let fact = Fact::Part(id.clone(), TaskPart::Left);
    let put_away = record.facts.iter().flatten().find(|change| change.fact == fact)?.after.clone()?;
    Some(serde_json::from_value::<Left>(put_away).ok()?.base)
}

/// A worktree stands where its branch does after the move.
fn worktrees_follow(state: &State, record: &Record, survey: &Survey, draft: &mut Plan) {
    let moved: BTreeMap<TaskId, Option<Oid>> = draft
        .refs
        .iter()
        .filter_map(|r| Some((Fact::Ref(r.name.clone()).task_in_git()?, r.new.clone())))
        .collect();
    let tip_of = |id: &TaskId| moved.get(id).cloned().unwrap_or_else(|| survey.tips.get(id).cloned());
    let mut fixed = Vec::new();
    for worktree in std::mem::take(&mut draft.worktrees) {
        let base = base_again(state, record, &worktree.task);
        let to = match (worktree.to, tip_of(&worktree.task)) {
            (WorktreeTo::Restored { dirty, .. }, Some(tip)) => WorktreeTo::Restored { base, tip, dirty },
            (WorktreeTo::Gone, Some(tip)) => WorktreeTo::Restored { base, tip, dirty: None },
            (_, None) => WorktreeTo::Gone,
            (other, _) => other,
        };
        fixed.push(WorktreeMove { task: worktree.task, to });
    }
    let known: Vec<TaskId> = fixed.iter().map(|w| w.task.clone()).collect();
    for (id, tip) in &moved {
        if known.contains(id) {
            continue;
        }
        let to = match tip {
            Some(tip) => {
                let base = base_again(state, record, id);
                WorktreeTo::Restored { base, tip: tip.clone(), dirty: None }
            }
            None => WorktreeTo::Gone,
        };
        fixed.push(WorktreeMove { task: id.clone(), to });
    }
    draft.worktrees = fixed;
}
