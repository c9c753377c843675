//! A thousand random operations, undone in reverse order; and with agents that work in between.

use swarm_protocol::command::Command;
use swarm_protocol::ids::CommandId;
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, TaskPatch, TaskSpec};

use super::deeds::{active, start};
use super::matrix::{as_recorded, keeps_what_is_the_persons, kept, same};
use super::world::{OperationWorld, task_id};
use crate::rng::Rng;

fn undo(operation: Option<CommandId>) -> Command {
    Command::Undo { operation, partial: false, force: Force::default(), expect: None }
}

/// Agents at their boundary, work of four of them, two merged tasks.
fn begin() -> OperationWorld {
    let mut world = OperationWorld::new(8);
    start(&mut world, "t0");
    world.finish("t0");
    world.drive();
    start(&mut world, "t1");
    world.finish("t1");
    world.drive();
    active(&mut world, 4);
    world
}

fn random(rng: &mut Rng, world: &OperationWorld, quiet: bool) -> Command {
    let ids: Vec<_> = world.state.tasks.keys().cloned().collect();
    let task = ids[rng.index(ids.len())].clone();
    let other = ids[rng.index(ids.len())].clone();
    let force = Force::default();
    match rng.below(if quiet { 28 } else { 32 }) {
        0 | 1 => Command::BlockTask { task, reason: format!("reason {}", rng.below(100)) },
        2 | 3 => Command::UnblockTask { task },
        4 => Command::DeferTask { task },
        5 => Command::CancelTask { task },
        6 | 7 => {
            let mut patch =
                TaskPatch { title: Some(format!("title {}", rng.below(1000))), ..TaskPatch::default() };
            if rng.chance(40) {
                patch.depends =
                    Some(ids.iter().filter(|id| **id != task && rng.chance(10)).cloned().collect());
            }
            Command::EditTask { task, patch }
        }
        8 => Command::StartTasks { tasks: vec![task] },
        9 => Command::SetMode { mode: *rng.pick(&Mode::ALL) },
        10 | 11 => {
            let spec = TaskSpec::new(task_id(&format!("n{}", rng.below(40))), "one more");
            Command::AddTask { phase: None, after: rng.chance(50).then_some(other), task: spec }
        }
        12 => Command::RemoveTask { task },
        13 | 14 => Command::MoveTask { task, after: rng.chance(70).then_some(other), phase: None },
        15 => Command::WaiveGate { task, gate: *rng.pick(&Gate::ALL), reason: "seen".into() },
        16 => Command::SetProfile {
            profile: ExecutionProfile {
                parallelization_enabled: true,
                max_concurrent_tasks: rng.between(2, 9) as u32,
                ..ExecutionProfile::default()
            },
        },
        17 => Command::ApprovePlan,
        18 if rng.chance(20) => Command::ResetPlan,
        18 | 19 => Command::StopAgent { task },
        20 => Command::KillAgent { task },
        21 | 22 => Command::MakeCheckpoint { name: Some(format!("c{}", rng.below(30))) },
        23 => Command::DeleteCheckpoint { name: format!("c{}", rng.below(30)) },
        24 | 25 => {
            let to = rng.chance(70).then(|| format!("c{}", rng.below(30)));
            Command::Rollback { to, force, expect: None }
        }
        26 => Command::RollbackTask { task, cascade: rng.chance(70), force, expect: None },
        27 if rng.chance(20) => Command::Abort { force, expect: None },
        27 => Command::Redirect { task, to: other, same_worktree: rng.chance(30) },
        28 => Command::Retry,
        29 => Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: rng.chance(50) },
        _ => {
            let reason = if rng.chance(80) { PauseReason::User } else { PauseReason::Abort };
            Command::Resume { reason }
        }
    }
}

/// What a run of many operations came to.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    pub asked: u64,
    pub accepted: u64,
    pub undone: u64,
    pub refused: u64,
}

/// Agents are held: `count` operations, then all of them undone, newest first. Everything is as it was.
pub fn held(seed: u64, count: u64) -> Result<Counted, String> {
    let mut rng = Rng::new(seed);
    let mut world = begin();
    world
        .ask(Command::Pause { reason: PauseReason::User, why: "held".into(), force: false })
        .expect("paused");
    // Who was at work is stopped once: an undo brings a process back as a queued task.
    for n in 2..6 {
        world.ask(Command::StopAgent { task: task_id(&format!("t{n}")) }).expect("stopped");
    }
    world.drive();
    let first = world.seen();
    let mut counted = Counted::default();
    let mut done: Vec<CommandId> = Vec::new();
    let mut seen = vec![first.clone()];
    while counted.asked < count {
        counted.asked += 1;
        let command = random(&mut rng, &world, true);
        let told = world.ask(command.clone());
        // Sometimes nobody is there who carries out what is owed.
        if rng.chance(70) {
            world.drive();
        } else {
            world.drive_operation();
        }
        world.sound().map_err(|what| format!("operation {} {command:?}: {what}", counted.asked))?;
        let Ok(id) = told else { continue };
        if world.state.ops.record(&id).is_some_and(|r| r.can_be_undone()) {
            counted.accepted += 1;
            done.push(id);
            seen.push(world.seen());
        }
    }
    while let Some(id) = done.pop() {
        seen.pop();
        let record = world.state.ops.record(&id).cloned();
        world
            .ask(undo(Some(id.clone())))
            .map_err(|r| format!("{} cannot be undone: {} ({record:?})", id.as_str(), r.message()))?;
        world.drive();
        if let Some((why, _)) = world.state.ops.log.back().and_then(|r| r.failed.clone()) {
            return Err(format!("the undo of {record:?} failed: {why}"));
        }
        counted.undone += 1;
        let wanted = seen.last().unwrap_or(&first);
        same(wanted, &world.seen()).map_err(|what| format!("after the undo of {record:?}: {what}"))?;
        world.sound()?;
    }
    same(&first, &world.seen())?;
    Ok(counted)
}

/// Agents work in between: each undo restores exactly its own facts, or is refused and changes nothing.
pub fn working(seed: u64, count: u64) -> Result<Counted, String> {
    let mut rng = Rng::new(seed);
    let mut world = begin();
    let mut counted = Counted::default();
    for _ in 0..count {
        counted.asked += 1;
        live(&mut rng, &mut world);
        let before = world.clone();
        if rng.chance(60) {
            let command = random(&mut rng, &world, false);
            let told = format!("{command:?}");
            counted.accepted += u64::from(world.ask(command).is_ok());
            world.drive();
            keeps_what_is_the_persons(&before, &world).map_err(|what| format!("{told}: {what}"))?;
            world.sound().map_err(|what| format!("{told}: {what}"))?;
        } else {
            take_back(&mut rng, &mut world, &mut counted)?;
        }
        world.sound()?;
    }
    Ok(counted)
}

/// Somebody does something by themselves.
fn live(rng: &mut Rng, world: &mut OperationWorld) {
    let task = format!("t{}", rng.below(13));
    match rng.below(8) {
        0 | 1 => world.work(&task),
        2 => world.scribble(&task),
        3 => world.iterate(&task),
        4 => world.finish(&task),
        5 => drop(world.git.person_commits(&format!("p{}", rng.below(1000)))),
        _ => {}
    }
    world.drive();
}

fn take_back(rng: &mut Rng, world: &mut OperationWorld, counted: &mut Counted) -> Result<(), String> {
    let candidates: Vec<_> = world.state.ops.log.iter().filter(|r| r.can_be_undone()).cloned().collect();
    if candidates.is_empty() {
        return Ok(());
    }
    let record = candidates[candidates.len() - 1 - rng.index(candidates.len().min(12))].clone();
    let standing = as_recorded(world, &record, false);
    let before = world.clone();
    let set_aside = rng.chance(40);
    let force = Force { set_aside, ..Force::default() };
    let asked = Command::Undo { operation: Some(record.id.clone()), partial: false, force, expect: None };
    if world.ask(asked).is_err() {
        counted.refused += 1;
        return same(&before.seen(), &world.seen()).map_err(|what| format!("a refused undo: {what}"));
    }
    world.drive_operation();
    let undone = world.clone();
    world.drive();
    keeps_what_is_the_persons(&before, world).map_err(|what| format!("undo of {record:?}: {what}"))?;
    world.sound().map_err(|what| format!("undo of {record:?}: {what}"))?;
    if world.state.ops.log.back().is_some_and(|r| r.failed.is_some()) {
        counted.refused += 1;
        return Ok(());
    }
    counted.undone += 1;
    let trunk_moved = |c: &swarm_protocol::operation::FactChange| c.fact.branch() == Some("main");
    let on_trunk = record.facts.iter().flatten().any(trunk_moved);
    if set_aside && record.kind != "merge" && record.facts.is_some() {
        kept(&before, &undone, &record)?;
    }
    if let (Err(what), false) = (standing, set_aside || on_trunk || record.facts.is_none()) {
        return Err(format!("undone over a later change: {what} ({record:?})"));
    }
    if record.kind != "merge" && record.facts.is_some() && !on_trunk {
        as_recorded(&undone, &record, true).map_err(|what| format!("undone, but {what}"))?;
    }
    Ok(())
}
