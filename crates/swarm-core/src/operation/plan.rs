//! What an operation will do: asked of the state, answered by a survey, made into a plan. Pure, so that
//! a preview is the same function as the deed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use sha2::{Digest, Sha256};
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{
    Checkpoint, Fact, FactChange, Force, Plan, Request, Says, Survey, SurveyAsk, WorktreeTo, local_ref,
};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::{another_trunk, checkpoints, goes_on, taking_back, undo};
use crate::state::State;
use crate::state::operations::Record;

/// What a survey has to find out for this request.
pub fn ask(state: &State, request: &Request) -> Result<SurveyAsk, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    match request {
        Request::Checkpoint { .. } => Ok(SurveyAsk::default()),
        Request::Trunk { to, start } => Ok(another_trunk::ask(state, to, start.as_ref())),
        Request::Rollback { to, force } => {
            let checkpoint = checkpoints::known(state, to)?;
            another_trunk::on_this_trunk(state, checkpoint)?;
            let tasks = with_branches(state).chain(checkpoint.tips.keys()).cloned();
            let tasks: BTreeSet<TaskId> = tasks.collect();
            Ok(SurveyAsk {
                at: Some(checkpoint.seq),
                trunk: checkpoint.trunk.clone(),
                revert: ours(state),
                gone: super::trunk::gone(state),
                drop_foreign: force.drop_foreign,
                tasks: tasks.into_iter().collect(),
                rewritten: landed(state),
                needs: kept_by(checkpoint),
                ..SurveyAsk::default()
            })
        }
        Request::RollbackTask { tasks, .. } => {
            let of = |id| merged_itself(state, id);
            let revert = tasks.iter().rev().flat_map(|id| of(id).into_iter().rev()).collect();
            let rewritten = tasks.iter().map(|id| (id.clone(), of(id))).collect();
            let (gone, tasks) = (super::trunk::gone(state), tasks.clone());
            Ok(SurveyAsk { revert, gone, rewritten, tasks, ..SurveyAsk::default() })
        }
        Request::Abort { to, force } => {
            let checkpoint = checkpoints::known(state, to)?;
            another_trunk::on_this_trunk(state, checkpoint)?;
            Ok(SurveyAsk {
                trunk: checkpoint.trunk.clone(),
                revert: ours(state),
                gone: super::trunk::gone(state),
                drop_foreign: force.drop_foreign,
                tasks: with_branches(state).cloned().collect(),
                landed: landed(state),
                rewritten: landed(state),
                ..SurveyAsk::default()
            })
        }
        Request::Undo { operation, force, .. } => {
            let record = state.ops.record(operation).ok_or_else(|| unknown(operation.as_str()))?;
            if let Some(other) = as_another(record, *force) {
                return ask(state, &other);
            }
            another_trunk::moved_another(state, record)?;
            let git = |c: &&FactChange| c.fact.is_of_git();
            let names = record.facts.iter().flatten().filter(git);
            let tasks: BTreeSet<TaskId> = names.clone().filter_map(|c| c.fact.task_in_git()).collect();
            let main = trunk_fact(state, standing(state, record).facts.iter().flatten());
            let trunk = main.and_then(|c| oid(c.before.as_ref()));
            let (revert, tasks) = (ours(state), tasks.into_iter().collect());
            let needs = names.chain(main).filter_map(|c| oid(c.before.as_ref())).collect();
            let drop_foreign = force.drop_foreign;
            let gone = super::trunk::gone(state);
            Ok(SurveyAsk { trunk, revert, gone, drop_foreign, tasks, needs, ..SurveyAsk::default() })
        }
    }
}

/// What a person says to ask for it.
pub fn command(state: &State, request: &Request) -> String {
    match request {
        Request::Checkpoint { name } => format!("swarm checkpoint create {name}"),
        Request::Rollback { to, .. } => format!("swarm rollback {to}"),
        Request::RollbackTask { tasks, .. } => match tasks.as_slice() {
            [only] => format!("swarm task rollback {only}"),
            [first, ..] => format!("swarm task rollback {first} --cascade"),
            [] => "swarm task rollback".into(),
        },
        Request::Abort { .. } => "swarm abort".into(),
        Request::Trunk { to, .. } => format!("swarm run --trunk {to}"),
        Request::Undo { operation, .. } => match state.ops.record(operation) {
            Some(record) => format!("swarm undo {}", record.seq),
            None => format!("swarm undo {}", operation.as_str()),
        },
    }
}

fn kept_by(checkpoint: &Checkpoint) -> Vec<Oid> {
    let tasks = checkpoint.tips.values().chain(checkpoint.dirty.values());
    tasks.chain(&checkpoint.trunk).cloned().collect()
}

/// The swarm's commits on trunk.
fn ours(state: &State) -> Vec<Oid> {
    super::trunk::ours(state).into_iter().cloned().collect()
}

/// The plan for this request, or why it cannot be.
pub fn plan(state: &State, request: &Request, survey: &Survey, now: Timestamp) -> Result<Plan, Refusal> {
    let kind = match request {
        Request::Checkpoint { .. } => "checkpoint",
        Request::Rollback { .. } => "rollback",
        Request::RollbackTask { .. } => "task-rollback",
        Request::Abort { .. } => "abort",
        Request::Undo { .. } => "undo",
        Request::Trunk { .. } => "trunk",
    };
    let mut draft = Plan {
        checkpoint: checkpoints::unused(state, &format!("before-{kind}")),
        trunk: None,
        refs: vec![],
        worktrees: vec![],
        facts: vec![],
        tasks: BTreeMap::new(),
        save_local: vec![],
        local: None,
        says: Says::default(),
        at: now,
    };
    match request {
        Request::Checkpoint { name } => draft.checkpoint = name.clone(),
        Request::Rollback { to, force } => taking_back::rollback(state, to, *force, survey, &mut draft)?,
        Request::RollbackTask { tasks, force } => {
            taking_back::task_rollback(state, tasks, *force, survey, &mut draft)?
        }
        Request::Abort { to, force } => taking_back::abort(state, to, *force, survey, &mut draft)?,
        Request::Trunk { to, start } => another_trunk::choose(state, to, start.as_ref(), survey, &mut draft)?,
        Request::Undo { operation, partial, force } => {
            let record = state.ops.record(operation).ok_or_else(|| unknown(operation.as_str()))?;
            match as_another(record, *force) {
                Some(Request::Rollback { to, force }) => {
                    taking_back::rollback(state, &to, force, survey, &mut draft)?
                }
                Some(Request::RollbackTask { tasks, force }) => {
                    taking_back::task_rollback(state, &tasks, force, survey, &mut draft)?;
                }
                Some(Request::Trunk { to, .. }) => {
                    another_trunk::choose(state, &to, None, survey, &mut draft)?
                }
                _ => super::undoing::unmake(state, record, *partial, *force, survey, &mut draft)?,
            }
            draft.local = record.checkpoint.as_deref().map(local_ref);
        }
    }
    all_there(&draft, survey)?;
    if let Some(moved) = &draft.trunk {
        draft.says.commits.insert(0, super::trunk::moves(moved));
    }
    draft.says.tasks.extend(goes_on::said(state, &draft).map(|words| format!("then {words}")));
    if draft.trunk.is_some() && !survey.local.is_empty() {
        draft.save_local = survey.local.clone();
        let name = local_ref(&draft.checkpoint);
        let files = survey.local.join(", ");
        draft.says.work.push(format!(
            "your local changes in {files} are put on {name}; `swarm undo` brings them back, `swarm restore {name}` shows them"
        ));
    }
    Ok(draft)
}

/// Somebody may have deleted the refs that kept a commit, and git then the commit: said before anything moves.
fn all_there(draft: &Plan, survey: &Survey) -> Result<(), Refusal> {
    let of_worktree = |to: &WorktreeTo| match to {
        WorktreeTo::Restored { tip, dirty, .. } => vec![Some(tip.clone()), dirty.clone()],
        WorktreeTo::Clean { tip } => vec![Some(tip.clone())],
        WorktreeTo::Gone => vec![],
    };
    let worktrees = draft.worktrees.iter().flat_map(|one| of_worktree(&one.to));
    let wanted: Vec<Oid> = draft.refs.iter().map(|one| one.new.clone()).chain(worktrees).flatten().collect();
    let missing: Vec<&Oid> = survey.missing.iter().filter(|oid| wanted.contains(oid)).collect();
    if missing.is_empty() { Ok(()) } else { Err(thrown_away(&missing)) }
}

pub fn thrown_away(missing: &[&Oid]) -> Refusal {
    let names: Vec<&str> = missing.iter().map(|oid| oid.short()).collect();
    let why = format!("Commits that it needs are not in the repository any more: {}", names.join(", "));
    Refusal::CannotMove { why, hint: "swarm checkpoint list".into() }
}

/// What the person has seen, for `expect`: what becomes of commits and of local changes. Agents that
/// worked on between the preview and the deed make no other preview of it.
pub fn hash(plan: &Plan) -> String {
    let seen = (&plan.trunk, &plan.says.commits, &plan.says.foreign, &plan.save_local);
    let bytes = serde_json::to_vec(&seen).unwrap_or_default();
    crate::hash::hex(&Sha256::digest(bytes))[..16].to_string()
}

/// Where facts were too many the state before it is returned to; a merge is undone as its task's
/// rollback, since approved work would be merged again at once; the choice of a trunk by choosing the one before.
pub fn as_another(record: &crate::state::operations::Record, force: Force) -> Option<Request> {
    if let (None, Some(name)) = (&record.facts, &record.checkpoint) {
        return Some(Request::Rollback { to: name.clone(), force });
    }
    if let Some(before) = another_trunk::changes_trunk(record) {
        return Some(before);
    }
    let task = record.subject.as_deref().filter(|_| record.kind == "merge")?;
    Some(Request::RollbackTask { tasks: vec![TaskId::new(task).ok()?], force })
}

fn unknown(id: &str) -> Refusal {
    Refusal::UnknownOperation { id: id.into() }
}

fn with_branches(state: &State) -> impl Iterator<Item = &TaskId> {
    state.tasks.iter().filter(|(_, task)| task.worktree).map(|(id, _)| id)
}

/// Tasks that brought something to trunk, and what.
pub fn landed(state: &State) -> BTreeMap<TaskId, Vec<Oid>> {
    let done = state.tasks.keys().map(|id| (id.clone(), merged(state, id)));
    done.filter(|(_, commits)| !commits.is_empty()).collect()
}

/// The commits of a merged task on trunk, oldest first.
pub fn merged(state: &State, id: &TaskId) -> Vec<Oid> {
    let proof = state.task(id).and_then(|task| task.stage.proof());
    proof.map(|proof| proof.own().to_vec()).unwrap_or_default()
}

/// The same without those of its parts, which a whole has no others than: they go back with the part that made them.
pub fn merged_itself(state: &State, id: &TaskId) -> Vec<Oid> {
    let whole = state.task(id).is_some_and(|task| !task.parts.is_empty());
    if whole { vec![] } else { merged(state, id) }
}

pub fn branch_ref(id: &TaskId) -> String {
    format!("refs/heads/{}", id.branch())
}

/// What last made this operation true: itself, or the redo that brought it back. Trunk may have grown before that, and then
/// the redo moved it between other commits than the operation did.
pub fn standing<'a>(state: &'a State, record: &'a Record) -> &'a Record {
    let log = &state.ops.log;
    let undid = |id: &CommandId| log.iter().any(|r| r.id == *id && r.undoes.as_ref() == Some(&record.id));
    let redid = |r: &&Record| r.failed.is_none() && r.facts.is_some() && r.undoes.as_ref().is_some_and(undid);
    log.iter().rev().find(redid).unwrap_or(record)
}

/// The fact about trunk among these.
pub fn trunk_fact<'a>(
    state: &State,
    mut changes: impl Iterator<Item = &'a FactChange>,
) -> Option<&'a FactChange> {
    let trunk = Fact::of_branch(state.trunk.as_deref()?);
    changes.find(|c| c.fact == trunk)
}

pub fn oid(value: Option<&serde_json::Value>) -> Option<Oid> {
    Oid::new(value?.as_str()?).ok()
}

/// Facts of a plan once it is carried out: those of the ledger, and git's own.
pub fn all_facts(
    plan: &Plan,
    moved: &swarm_protocol::operation::Moved,
    dirty: &BTreeMap<TaskId, Oid>,
) -> Vec<FactChange> {
    let text = |oid: Option<&Oid>| oid.map(|oid| json!(oid.as_str()));
    let mut all = plan.facts.clone();
    if let (Some(trunk), Some(new)) = (&plan.trunk, &moved.trunk) {
        let fact = Fact::of_branch(&trunk.branch);
        all.push(FactChange { fact, before: text(Some(&trunk.old)), after: text(Some(new)) });
    }
    all.extend(plan.refs.iter().map(|moved| FactChange {
        fact: Fact::Ref(moved.name.clone()),
        before: text(moved.old.as_ref()),
        after: text(moved.new.as_ref()),
    }));
    for worktree in &plan.worktrees {
        let after = match &worktree.to {
            WorktreeTo::Restored { dirty, .. } => dirty.as_ref(),
            WorktreeTo::Clean { .. } | WorktreeTo::Gone => None,
        };
        let before = dirty.get(&worktree.task).or_else(|| moved.dirty.get(&worktree.task));
        if before != after {
            let fact = Fact::Worktree(worktree.task.clone());
            all.push(FactChange { fact, before: text(before), after: text(after) });
        }
    }
    all
}

/// Facts that a later change took out of reach, as a refusal. `some_stand`: an undo of the others would do something.
pub fn refused(
    state: &State,
    record: &crate::state::operations::Record,
    changes: Vec<swarm_protocol::refusal::Changed>,
    some_stand: bool,
) -> Refusal {
    let instead = undo::instead(state, record, &changes, some_stand);
    Refusal::ChangedSince { id: record.id.clone(), what: record.describe(), changes, instead }
}

/// The facts of the ledger that an undo sets back, for its plan.
pub fn set_back(
    state: &State,
    record: &crate::state::operations::Record,
    partial: bool,
    force: Force,
) -> Result<Vec<FactChange>, Refusal> {
    let changes = undo::settled(state, record, partial, force)?;
    Ok(changes.into_iter().map(|c| FactChange { before: c.after, after: c.before, fact: c.fact }).collect())
}
