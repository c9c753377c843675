//! Every operation, and every operation with its undo, and then the swarm is let go on to the end. Judged by git alone:
//! whatever is called done, the content that its agent handed in is on trunk.

use swarm_core::stage::Stage;
use swarm_protocol::command::Command;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::{Mode, PauseReason};
use swarm_protocol::plan::BlockKind;

use super::deeds::{Deed, Situation, active};
use super::world::{OperationWorld, task_id};

/// Where an operation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    Plain(Situation),
    /// The swarm was stopped with work that is on no trunk, and started again.
    StoppedUnmerged,
    /// A person amended the swarm's last commit on trunk.
    Amended,
    /// A person reverted a task's commit.
    Reverted,
    /// A person reset trunk.
    Reset,
}

/// What is asked for: an operation of the list, or the way back to a light checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Deed(Deed),
    /// Back to the checkpoint before the merge of this task.
    Light(&'static str),
}

impl Ground {
    pub fn all() -> impl Iterator<Item = Self> {
        let plain = Situation::ALL.into_iter().map(Self::Plain);
        plain.chain([Self::StoppedUnmerged, Self::Amended, Self::Reverted, Self::Reset])
    }

    fn world(self) -> OperationWorld {
        let situation = match self {
            Self::Plain(situation) => return situation.world(),
            _ => Situation::Idle,
        };
        let mut world = situation.world();
        active(&mut world, 2);
        match self {
            Self::StoppedUnmerged => world.stop_and_start(),
            Self::Amended => world.git.person_amends("mine"),
            Self::Reverted => world.git.person_reverts_last(),
            Self::Reset => world.git.person_resets(1),
            Self::Plain(_) => {}
        }
        world.trunk_seen();
        world.drive();
        world
    }
}

impl Asked {
    pub fn all() -> impl Iterator<Item = Self> {
        Deed::ALL.into_iter().map(Self::Deed).chain([Self::Light("t0"), Self::Light("t1")])
    }

    fn command(self, world: &OperationWorld) -> Command {
        match self {
            Self::Deed(deed) => deed.command(world),
            Self::Light(task) => {
                let (to, force) = (Some(format!("before-merge-{task}")), Force::default());
                Command::Rollback { to, force, expect: None }
            }
        }
    }
}

/// One operation at one place, then on to the end. False where it was refused. The error says what was broken.
pub fn goes_on(asked: Asked, ground: Ground, undone: bool) -> Result<bool, String> {
    let mut world = ground.world();
    let command = asked.command(&world);
    let Ok(id) = world.ask(command) else { return Ok(false) };
    world.drive();
    if undone && !undo(&mut world, id) {
        return Ok(false);
    }
    world.go_on()?;
    world.judged()?;
    Ok(true)
}

fn undo(world: &mut OperationWorld, id: CommandId) -> bool {
    let undo = |force| Command::Undo { operation: Some(id.clone()), partial: false, force, expect: None };
    let aside = Force { set_aside: true, ..Force::default() };
    let asked = world.ask(undo(Force::default())).or_else(|_| world.ask(undo(aside)));
    world.drive();
    asked.is_ok()
}

impl OperationWorld {
    /// A coordinator leaves in good order, and another one comes.
    fn stop_and_start(&mut self) {
        self.ask(Command::Drain { why: "Ctrl+C".into() }).expect("it drains");
        self.drive();
        self.take_in(swarm_core::input::Input::Leaving).expect("it leaves");
        self.start();
    }

    /// Whoever watches trunk sees where it is.
    pub fn trunk_seen(&mut self) {
        let now = self.git.trunk();
        if let Some(commit) = self.state.proven.clone().filter(|known| *known != now) {
            self.report(swarm_core::input::Report::TrunkChanged { commit, now });
        }
    }

    /// A patient person helps until everything that is not cancelled is done.
    pub fn go_on(&mut self) -> Result<(), String> {
        for _ in 0..60 {
            self.drive();
            let open: Vec<TaskId> = self
                .state
                .tasks
                .iter()
                .filter(|(_, task)| !task.stage.is_closed())
                .map(|(id, _)| id.clone())
                .collect();
            if open.is_empty() {
                return Ok(());
            }
            self.helped(&open);
        }
        let left: Vec<String> = self.state.tasks.values().map(|t| t.stage.name().to_string()).collect();
        Err(format!("it does not come to its end: {left:?}"))
    }

    fn helped(&mut self, open: &[TaskId]) {
        for reason in self.state.paused.keys().copied().collect::<Vec<PauseReason>>() {
            let _ = self.ask(Command::Resume { reason });
        }
        let _ = self.ask(Command::Retry);
        if self.state.mode() == Mode::SemiAuto {
            let _ = self.ask(Command::SetMode { mode: Mode::Autopilot });
        }
        for id in open {
            let stage = self.state.task(id).map(|t| t.stage.clone());
            match stage {
                Some(Stage::Gone { work: None, .. }) => {
                    let (force, expect) = (Force::default(), None);
                    let task = id.clone();
                    let _ = self.ask(Command::RollbackTask { task, cascade: true, force, expect });
                }
                Some(
                    Stage::Blocked { .. }
                    | Stage::Failed { .. }
                    | Stage::Timeout { .. }
                    | Stage::Deferred
                    | Stage::Gone { .. },
                ) => {
                    let _ = self.ask(Command::UnblockTask { task: id.clone() });
                }
                Some(Stage::Pending { .. }) => {
                    let _ = self.ask(Command::StartTasks { tasks: vec![id.clone()] });
                }
                _ => {}
            }
            self.drive();
            if matches!(self.stage(id.as_str()), Some(Stage::Active { .. })) {
                self.ends(id.as_str());
            }
            self.drive();
        }
    }

    /// The agent ends its task. One that finds its work on its branch already adds nothing to it.
    fn ends(&mut self, task: &str) {
        let id = task_id(task);
        let own = |name: &String| name.starts_with(&format!("{task}:"));
        let tip = self.git.branches.get(&id).cloned();
        let has = tip.is_some_and(|tip| self.git.tree(&tip).iter().any(own));
        let said_empty = matches!(
            self.state.task(&id).map(|t| &t.stage),
            Some(Stage::Blocked { block: BlockKind::Empty, .. })
        ) || self.state.task(&id).is_some_and(|t| t.empties > 0);
        if has && !said_empty { self.hand_in(task) } else { self.finish(task) }
    }

    /// Whatever is called done is on trunk with all that its agent handed in; whatever is not done can be reached.
    pub fn judged(&self) -> Result<(), String> {
        let trunk = self.git.tree(&self.git.trunk());
        for (id, task) in &self.state.tasks {
            let Some(handed) = self.handed.get(id) else { continue };
            if matches!(task.stage, Stage::Done { .. })
                && let Some(lost) = handed.iter().find(|name| !trunk.contains(*name))
            {
                return Err(format!("{id} is called done and {lost} is not on trunk"));
            }
            let kept = self.git.reachable();
            if let Some(lost) = handed.iter().find(|name| !kept.contains(*name)) {
                return Err(format!("{lost} of {id} is out of reach"));
            }
        }
        Ok(())
    }
}
