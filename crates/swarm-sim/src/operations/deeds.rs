//! Operations and the situations they are asked in.

use swarm_protocol::command::Command;
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, TaskPatch, TaskSpec};

use super::world::{OperationWorld, task_id};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Situation {
    Idle,
    OneActive,
    EightActive,
    Paused,
    DuringMerge,
    DuringOperation,
    /// Idle, and a person has committed and changed files since.
    PersonToo,
}

impl Situation {
    pub const ALL: [Self; 7] = [
        Self::Idle,
        Self::OneActive,
        Self::EightActive,
        Self::Paused,
        Self::DuringMerge,
        Self::DuringOperation,
        Self::PersonToo,
    ];

    /// Two tasks merged, a checkpoint between them, one blocked, an edit undone; then the situation itself.
    pub fn world(self) -> OperationWorld {
        let mut world = OperationWorld::new(8);
        start(&mut world, "t0");
        world.finish("t0");
        world.drive();
        let name = Some("between".to_string());
        world.ask(Command::MakeCheckpoint { name }).expect("a checkpoint");
        world.drive();
        start(&mut world, "t1");
        world.finish("t1");
        world.drive();
        let reason = "wait".into();
        world.ask(Command::BlockTask { task: task_id("t10"), reason }).expect("blocked");
        // Something to be redone, whatever comes between.
        let patch = TaskPatch { title: Some("undone".into()), ..TaskPatch::default() };
        let edit = world.ask(Command::EditTask { task: task_id("t9"), patch }).expect("edited");
        let (partial, force) = (false, Force::default());
        world.ask(Command::Undo { operation: Some(edit), partial, force, expect: None }).expect("undone");
        match self {
            Self::Idle => {}
            Self::OneActive => active(&mut world, 1),
            Self::EightActive => active(&mut world, 8),
            Self::Paused => {
                active(&mut world, 3);
                world.ask(pause(false)).expect("paused");
            }
            Self::DuringMerge => {
                start(&mut world, "t2");
                world.finish("t2");
            }
            Self::DuringOperation => {
                active(&mut world, 1);
                let name = Some("meanwhile".to_string());
                world.ask(Command::MakeCheckpoint { name }).expect("a checkpoint");
            }
            Self::PersonToo => {
                world.git.person_commits("mine");
                let tip = world.git.trunk();
                world.git.pushed.extend(world.git.history(&tip).into_iter().skip(1));
                world.git.local.insert("notes.txt".into());
            }
        }
        if !matches!(self, Self::DuringMerge | Self::DuringOperation) {
            world.drive();
        }
        world
    }
}

pub fn start(world: &mut OperationWorld, task: &str) {
    world.ask(Command::StartTasks { tasks: vec![task_id(task)] }).expect("started");
    world.drive();
}

/// So many agents at work, with commits and with something uncommitted.
pub fn active(world: &mut OperationWorld, count: usize) {
    for n in 2..2 + count {
        let task = format!("t{n}");
        start(world, &task);
        world.work(&task);
        world.iterate(&task);
        world.scribble(&task);
    }
}

fn pause(force: bool) -> Command {
    Command::Pause { reason: PauseReason::User, why: "lunch".into(), force }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Pause,
    Force,
    Resume,
    Stop,
    Kill,
    Redirect,
    RedirectSame,
    Block,
    Unblock,
    Defer,
    Cancel,
    Edit,
    Start,
    Mode,
    Add,
    Remove,
    Move,
    Waive,
    Profile,
    Lock,
    Approve,
    Reset,
    Message,
    Checkpoint,
    DeleteCheckpoint,
    Rollback,
    Session,
    TaskRollback,
    TaskRollbackMerged,
    Cascade,
    Abort,
    Undo,
    Redo,
    UndoMerge,
}

impl Deed {
    pub const ALL: [Self; 34] = [
        Self::Pause,
        Self::Force,
        Self::Resume,
        Self::Stop,
        Self::Kill,
        Self::Redirect,
        Self::RedirectSame,
        Self::Block,
        Self::Unblock,
        Self::Defer,
        Self::Cancel,
        Self::Edit,
        Self::Start,
        Self::Mode,
        Self::Add,
        Self::Remove,
        Self::Move,
        Self::Waive,
        Self::Profile,
        Self::Lock,
        Self::Approve,
        Self::Reset,
        Self::Message,
        Self::Checkpoint,
        Self::DeleteCheckpoint,
        Self::Rollback,
        Self::Session,
        Self::TaskRollback,
        Self::TaskRollbackMerged,
        Self::Cascade,
        Self::Abort,
        Self::Undo,
        Self::Redo,
        Self::UndoMerge,
    ];

    /// The command, as it makes sense in this world.
    pub fn command(self, world: &OperationWorld) -> Command {
        let t2 = || task_id("t2");
        let force = Force::default();
        let back = |to: Option<&str>| Command::Rollback { to: to.map(Into::into), force, expect: None };
        let rolls =
            |task: &str, cascade| Command::RollbackTask { task: task_id(task), cascade, force, expect: None };
        match self {
            Self::Pause => pause(false),
            Self::Force => pause(true),
            Self::Resume => Command::Resume { reason: PauseReason::User },
            Self::Stop => Command::StopAgent { task: t2() },
            Self::Kill => Command::KillAgent { task: t2() },
            Self::Redirect => Command::Redirect { task: t2(), to: task_id("t11"), same_worktree: false },
            Self::RedirectSame => Command::Redirect { task: t2(), to: task_id("t11"), same_worktree: true },
            Self::Block => Command::BlockTask { task: t2(), reason: "wait for me".into() },
            Self::Unblock => Command::UnblockTask { task: task_id("t10") },
            Self::Defer => Command::DeferTask { task: t2() },
            Self::Cancel => Command::CancelTask { task: task_id("t11") },
            Self::Edit => {
                let patch = TaskPatch { title: Some("another title".into()), ..TaskPatch::default() };
                Command::EditTask { task: t2(), patch }
            }
            Self::Start => Command::StartTasks { tasks: vec![task_id("t12")] },
            Self::Mode => Command::SetMode { mode: Mode::Autopilot },
            Self::Add => Command::AddTask {
                phase: None,
                after: Some(task_id("t3")),
                task: TaskSpec::new(task_id(&format!("x{}", world.log.len())), "one more"),
            },
            Self::Remove => Command::RemoveTask { task: task_id("t12") },
            Self::Move => Command::MoveTask { task: task_id("t12"), after: None, phase: None },
            Self::Waive => Command::WaiveGate { task: t2(), gate: Gate::Check, reason: "seen".into() },
            Self::Profile => Command::SetProfile {
                profile: ExecutionProfile {
                    parallelization_enabled: true,
                    max_concurrent_tasks: 9,
                    ..ExecutionProfile::default()
                },
            },
            Self::Lock => Command::LockProfile,
            Self::Approve => Command::ApprovePlan,
            Self::Reset => Command::ResetPlan,
            Self::Message => Command::MessageAgent { task: t2(), text: "hello".into() },
            Self::Checkpoint => Command::MakeCheckpoint { name: Some("now".into()) },
            Self::DeleteCheckpoint => Command::DeleteCheckpoint { name: "between".into() },
            Self::Rollback => back(Some("between")),
            Self::Session => back(None),
            Self::TaskRollback => rolls("t2", false),
            Self::TaskRollbackMerged => rolls("t1", false),
            Self::Cascade => rolls("t0", true),
            Self::Abort => Command::Abort { force, expect: None },
            Self::Undo => Command::Undo { operation: None, partial: false, force, expect: None },
            Self::Redo => Command::Redo { operation: None, force, expect: None },
            Self::UndoMerge => {
                let merge = world.state.ops.log.iter().rev().find(|r| r.kind == "merge");
                let operation = merge.map(|r| r.id.clone());
                Command::Undo { operation, partial: false, force, expect: None }
            }
        }
    }
}
