//! Every operation in every situation, killed at every seam: it comes to the same end as without a
//! kill, and its undo restores exactly its facts or is refused and changes nothing.

use serde_json::Value;
use swarm_core::operation::{Record, facts, saved};
use swarm_protocol::command::Command;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{Fact, FactChange, Force, SavedStage, TaskPart};
use swarm_protocol::refusal::Refusal;

use super::deeds::{Deed, Situation};
use super::seen::{Seen, stage_words};
use super::world::OperationWorld;

/// What became of an operation in a situation.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Refused(String),
    Failed(String),
    Done { seams: u64, undo: String },
}

/// The whole matrix.
pub fn cells() -> impl Iterator<Item = (Deed, Situation)> {
    Situation::ALL.into_iter().flat_map(|s| Deed::ALL.into_iter().map(move |d| (d, s)))
}

/// One operation in one situation. The error says what was broken.
pub fn check(deed: Deed, situation: Situation) -> Result<Cell, String> {
    let here = situation.world();
    here.sound()?;
    let (first, unkilled) = carry_out(deed, here.clone(), None)?;
    let Ok(id) = first else {
        return Ok(Cell::Refused(first.expect_err("refused").kind().into()));
    };
    let seams = unkilled.seams - here.seams;
    for n in 1..=seams {
        let (_, killed) = carry_out(deed, here.clone(), Some(here.seams + n))?;
        same(&unkilled.seen(), &killed.seen()).map_err(|what| format!("killed at seam {n}: {what}"))?;
    }
    keeps_what_is_the_persons(&here, &unkilled)?;
    let record = unkilled.state.ops.record(&id).cloned();
    let Some(record) = record else { return Err(format!("{} is not on record", id.as_str())) };
    if let Some((why, _)) = &record.failed {
        let unchanged = here.seen().trunk == unkilled.seen().trunk;
        return if unchanged {
            Ok(Cell::Failed(why.clone()))
        } else {
            Err("it failed and moved trunk".into())
        };
    }
    as_recorded(&unkilled, &record, false)?;
    let undo = undone(&unkilled, &record)?;
    Ok(Cell::Done { seams, undo })
}

type Told = Result<CommandId, Refusal>;

fn carry_out(
    deed: Deed,
    mut world: OperationWorld,
    kill_at: Option<u64>,
) -> Result<(Told, OperationWorld), String> {
    let before = world.seen();
    let command = deed.command(&world);
    let told = world.ask(command);
    if told.is_err() && before != world.seen() {
        return Err("a refusal changed something".into());
    }
    world.kill_at = kill_at;
    world.drive();
    world.kill_at = None;
    world.sound()?;
    Ok((told, world))
}

/// Equal, or the first difference.
pub fn same(a: &Seen, b: &Seen) -> Result<(), String> {
    let differ = |what: &str, a: String, b: String| Err(format!("{what}: {a} or {b}"));
    for (id, task) in &a.tasks {
        if b.tasks.get(id) != Some(task) {
            return differ(&format!("task {id}"), format!("{task:?}"), format!("{:?}", b.tasks.get(id)));
        }
    }
    if let Some(id) = b.tasks.keys().find(|id| !a.tasks.contains_key(*id)) {
        return Err(format!("there is a task {id}"));
    }
    if a.order != b.order {
        return differ("order", format!("{:?}", a.order), format!("{:?}", b.order));
    }
    if a.swarm != b.swarm {
        return differ("swarm", format!("{:?}", a.swarm), format!("{:?}", b.swarm));
    }
    if a.trunk != b.trunk {
        return differ("trunk", format!("{:?}", a.trunk), format!("{:?}", b.trunk));
    }
    if a.branches != b.branches {
        return differ("branches", format!("{:?}", a.branches), format!("{:?}", b.branches));
    }
    if a.dirty != b.dirty {
        return differ("uncommitted work", format!("{:?}", a.dirty), format!("{:?}", b.dirty));
    }
    Ok(())
}

/// Commits and files of the person, before and after; and no change of an agent is out of reach.
pub fn keeps_what_is_the_persons(before: &OperationWorld, after: &OperationWorld) -> Result<(), String> {
    let theirs = before.seen().trunk.into_iter().filter(|name| name.starts_with("person:"));
    let now = after.seen().trunk;
    if let Some(gone) = theirs.into_iter().find(|name| !now.contains(name)) {
        return Err(format!("a person's commit is gone from trunk: {gone}"));
    }
    let files = before.git.local.iter();
    if let Some(gone) =
        files.into_iter().find(|f| !after.git.local.contains(*f) && !after.git.saved_local.contains(*f))
    {
        return Err(format!("a person's file is gone: {gone}"));
    }
    let kept = after.git.reachable();
    let dirty = |world: &OperationWorld| world.git.worktrees.values().flatten().cloned().collect::<Vec<_>>();
    let there = dirty(after);
    let wips = after.state.tasks.values().filter_map(|t| t.wip.as_ref()).flat_map(|oid| after.git.tree(oid));
    let wips: Vec<String> = wips.collect();
    // Checkpoints have their time; that none goes which an undo needs is looked at elsewhere.
    let mut then = before.git.clone();
    then.checkpoints.retain(|name, _| after.git.checkpoints.contains_key(name));
    let lost = then.reachable().into_iter().chain(dirty(before));
    match lost.into_iter().find(|name| !kept.contains(name) && !there.contains(name) && !wips.contains(name))
    {
        Some(name) => Err(format!("work is out of reach: {name}")),
        None => Ok(()),
    }
}

/// Every fact reads as the record says, measured from git and the plan. Tasks that an agent took up
/// again since have moved on by themselves.
pub fn as_recorded(world: &OperationWorld, record: &Record, before: bool) -> Result<(), String> {
    for change in record.facts.iter().flatten() {
        let task = match &change.fact {
            Fact::Redirect(id) => Some(id.clone()),
            fact => fact.task().cloned().or_else(|| fact.task_in_git()),
        };
        let working =
            |id: &TaskId| world.state.task(id).is_some_and(|t| saved::stage(t) == SavedStage::Working);
        let wanted = said(world, change, if before { change.before.as_ref() } else { change.after.as_ref() });
        let now = now(world, change);
        if now != wanted && !task.as_ref().is_some_and(working) {
            return Err(format!("{} is {now}, recorded was {wanted}", change.fact));
        }
    }
    Ok(())
}

/// A recorded value without ids: stages by name, commits by what they hold.
fn said(world: &OperationWorld, change: &FactChange, value: Option<&Value>) -> String {
    let oid = || Oid::new(value?.as_str()?).ok();
    if matches!(change.fact, Fact::Ref(_)) {
        return oid().map_or_else(|| "none".into(), |oid| format!("{:?}", world.git.tree(&oid)));
    }
    if matches!(change.fact, Fact::Worktree(_)) {
        return format!("{:?}", oid().map(|oid| world.git.brought(&oid)).unwrap_or_default());
    }
    let stage = value.and_then(|v| serde_json::from_value::<SavedStage>(v.clone()).ok());
    match stage {
        Some(stage) => stage_words(&stage),
        // Others may have come between it and its neighbour.
        None if change.fact.part() == Some(TaskPart::Place) => {
            value.map(|v| v["phase"].to_string()).unwrap_or_default()
        }
        None => format!("{value:?}"),
    }
}

/// The fact as it can be measured now.
fn now(world: &OperationWorld, change: &FactChange) -> String {
    let fact = &change.fact;
    if fact.branch() == Some("main") {
        return format!("{:?}", world.git.tree(&world.git.trunk()));
    }
    match fact.task_in_git() {
        Some(id) if matches!(fact, Fact::Ref(_)) => {
            let tip = world.git.branches.get(&id);
            tip.map_or_else(|| "none".into(), |tip| format!("{:?}", world.git.tree(tip)))
        }
        Some(id) => format!("{:?}", world.git.worktrees.get(&id).cloned().unwrap_or_default()),
        None => said(world, change, facts::read(&world.state, fact).as_ref()),
    }
}

/// What had been done since for the operation's tasks is in the checkpoint of the undo.
pub fn kept(before: &OperationWorld, after: &OperationWorld, record: &Record) -> Result<(), String> {
    let last = after.state.ops.log.back().and_then(|r| r.checkpoint.as_deref());
    let checkpoint = last.and_then(|name| after.state.ops.checkpoints.get(name)).ok_or("no checkpoint")?;
    for id in record.facts.iter().flatten().filter_map(|c| c.fact.task_in_git()) {
        let (tip, now) = (before.git.branches.get(&id), after.git.branches.get(&id));
        if tip.is_some() && tip != now && tip != checkpoint.tips.get(&id) {
            return Err(format!("the commits of {id} are in no checkpoint"));
        }
        let files = before.git.worktrees.get(&id).filter(|files| !files.is_empty());
        let saved = checkpoint.dirty.get(&id).map(|oid| after.git.brought(oid));
        if files.is_some() && files != after.git.worktrees.get(&id) && files != saved.as_ref() {
            return Err(format!("the files of {id} are in no checkpoint: {files:?}, {saved:?}"));
        }
    }
    Ok(())
}

/// The undo: accepted and exact, or refused without a trace.
fn undone(world: &OperationWorld, record: &Record) -> Result<String, String> {
    let mut world = world.clone();
    let before = world.seen();
    let undo =
        |force| Command::Undo { operation: Some(record.id.clone()), partial: false, force, expect: None };
    let mut aside = false;
    if let Err(refusal) = world.ask(undo(Force::default())) {
        if before != world.seen() {
            return Err("a refused undo changed something".into());
        }
        aside = refusal.hint() == format!("swarm undo {} --set-aside", record.seq);
        if !aside {
            return Ok(refusal.kind().into());
        }
        let set_aside = Force { set_aside: true, ..Force::default() };
        world.ask(undo(set_aside)).map_err(|no| format!("the hint is refused: {}", no.message()))?;
    }
    let worked = world.clone();
    // What follows by itself (approved work is merged) is not the undo's.
    world.drive_operation();
    let undone = world.clone();
    world.drive();
    world.sound().map_err(|what| format!("after the undo: {what}"))?;
    let last = world.state.ops.log.iter().rev().find(|r| r.kind == "undo");
    if let Some((why, _)) = last.and_then(|r| r.failed.clone()) {
        return Ok(format!("failed: {why}"));
    }
    if aside {
        kept(&worked, &undone, record)?;
    }
    if record.kind != "merge" {
        // A merge is undone as its task's rollback: the task waits instead of being merged again.
        as_recorded(&undone, record, true).map_err(|what| format!("undone, but {what}"))?;
    }
    Ok("undone".into())
}
