//! The rules alone: a plan played through the core as fast as it goes, every effect answered at once.
//!
//! A completion may cost what its dependents cost, and nothing for the tasks that have nothing to do with it.

use std::collections::{BTreeSet, VecDeque};

use anyhow::{Result, ensure};
use swarm_core::effect::{Effect, Key, WorkOrder};
use swarm_core::input::{Input, Report as Said};
use swarm_core::{State, owed, step, wakes_at};
use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskSpec};
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;
use swarm_sim::bench::report::{Report, Target, cpu, median};

use crate::setting::{ROUNDS, Setting};

const AGENTS: usize = 64;
const FEW: usize = 1_000;
const MANY: usize = 10_000;

pub fn measure(_: &Setting, report: &mut Report) -> Result<()> {
    let (mut growth, mut rates, mut each_few, mut each_many) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let few = Played::through(FEW)?;
        let many = Played::through(MANY)?;
        growth.push(many.per_task_us / few.per_task_us);
        rates.push(few.decisions_per_sec);
        each_few.push(few.per_task_us);
        each_many.push(many.per_task_us);
    }
    let what =
        format!("CPU of one completed task at {}k tasks / at {}k, {AGENTS} agents", MANY / 1000, FEW / 1000);
    report.judge("G12", &what, &growth, Target::AtMost(1.2));
    let (rate, few, many) = (median(&rates), median(&each_few), median(&each_many));
    report.note(
        "also",
        &format!("{FEW} tasks × {AGENTS} agents: {rate:.0} decisions a second, {few:.0} µs CPU per task; {MANY} tasks: {many:.0} µs"),
    );
    Ok(())
}

struct Played {
    per_task_us: f64,
    decisions_per_sec: f64,
}

impl Played {
    fn through(tasks: usize) -> Result<Self> {
        let mut world = World::with_plan(tasks)?;
        let before = cpu();
        let decisions = world.run()?;
        let used = (cpu() - before).as_secs_f64();
        Ok(Self { per_task_us: used * 1e6 / tasks as f64, decisions_per_sec: decisions as f64 / used })
    }
}

/// A world in which everything succeeds at once.
struct World {
    state: State,
    now: Timestamp,
    in_flight: BTreeSet<Key>,
    said: VecDeque<(Key, Said)>,
    tasks: usize,
}

impl World {
    /// Every task waits for the one as many places before it as there are agents.
    fn with_plan(tasks: usize) -> Result<Self> {
        let id = |n: usize| TaskId::new(format!("t{n}"));
        let mut planned = Vec::new();
        for n in 0..tasks {
            let mut spec = TaskSpec::new(id(n)?, format!("task {n}"));
            spec.depends = if n < AGENTS { vec![] } else { vec![id(n - AGENTS)?] };
            planned.push(TaskFile::from(spec));
        }
        let profile = ExecutionProfile {
            parallelization_enabled: true,
            max_concurrent_tasks: u32::try_from(AGENTS)?,
            ..ExecutionProfile::default()
        };
        let phase = PhaseFile { id: 1, name: "all".into(), tasks: planned, ..PhaseFile::default() };
        let plan = PlanFile {
            goal: "measure".into(),
            phases: vec![phase],
            execution_profile: Some(profile),
            ..PlanFile::default()
        };
        let mut world = Self {
            state: State::default(),
            now: Timestamp(1_768_298_400_000),
            in_flight: BTreeSet::new(),
            said: VecDeque::new(),
            tasks,
        };
        let save = Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "bench".into(),
            reset_statuses: false,
            planning: None,
        };
        world.command("save", save)?;
        // Where the mode is not a thing of the core, ready tasks start by themselves.
        let _ = world.command("mode", Command::SetMode { mode: Mode::Autopilot });
        Ok(world)
    }

    fn command(&mut self, id: &str, command: Command) -> Result<()> {
        let envelope = Envelope { id: CommandId::new(id)?, by: "person:cli".into(), command };
        let decided = step(&mut self.state, Input::Command(envelope), self.now);
        ensure!(decided.is_ok(), "the core refuses to {id}: {decided:?}");
        Ok(())
    }

    /// Plays to the end; how many inputs were decided.
    fn run(&mut self) -> Result<u64> {
        let policy = Policy { checks: false, verifies: false, ..Policy::default() };
        let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
        let started = Input::Started { epoch: self.state.epoch + 1, version, host, trunk, policy };
        ensure!(step(&mut self.state, started, self.now).is_ok(), "the core does not start");
        self.drive();
        let mut decisions = 1;
        while let Some((key, said)) = self.said.pop_front() {
            self.now = Timestamp(self.now.0 + 1);
            self.in_flight.remove(&key);
            let decided = step(&mut self.state, Input::Report(said), self.now);
            ensure!(decided.is_ok(), "the core refuses a report: {decided:?}");
            decisions += 1;
            self.drive();
            std::hint::black_box(wakes_at(&self.state, self.now));
        }
        let done = self.state.tasks.values().filter(|task| task.stage.is_closed()).count();
        ensure!(done == self.tasks, "{done} of {} tasks are done", self.tasks);
        Ok(decisions)
    }

    /// As the coordinator's loop: what is owed and not in flight is begun, and here is over at once.
    fn drive(&mut self) {
        let owed = owed(&self.state);
        let keys: BTreeSet<Key> = owed.iter().map(Effect::key).collect();
        self.in_flight.retain(|key| keys.contains(key));
        for effect in owed {
            let key = effect.key();
            if !self.in_flight.contains(&key)
                && let Some(said) = answer(effect)
            {
                self.in_flight.insert(key.clone());
                self.said.push_back((key, said));
            }
        }
    }
}

fn answer(effect: Effect) -> Option<Said> {
    let oid = |digit: char| Oid::new(digit.to_string().repeat(40)).expect("hex digits");
    Some(match effect {
        Effect::Prepare { run, task, .. } => {
            Said::Prepared { run, branch: task.branch(), base: oid('0'), tip: oid('0') }
        }
        Effect::Work { run, order: WorkOrder::Go { iteration, .. }, .. } => Said::Boundary {
            run,
            iteration,
            outcome: IterationOutcome::Complete,
            tip: Some(oid('1')),
            note: None,
            usage: Default::default(),
            session: None,
            known: 0,
        },
        Effect::Work { run, order: WorkOrder::Check { iteration, .. }, .. } => Said::Checked {
            run,
            iteration,
            passed: true,
            tip: oid('1'),
            tree: oid('2'),
            output: String::new(),
            gate: None,
        },
        Effect::Stop { run, .. } => Said::Stopped { run, wip: None, session: None },
        Effect::Build { task, .. } => {
            let (base, result, commits) = (oid('0'), oid('3'), vec![oid('3')]);
            let (squashed, resolved, protected, changed, found) = (false, vec![], vec![], vec![], vec![]);
            Said::Built { task, base, result, commits, squashed, resolved, protected, changed, found }
        }
        Effect::Publish { task, result, commits, .. } => {
            Said::Published { task, proof: Proof::new("main", result, commits) }
        }
        Effect::Release { task } => Said::Released { task },
        Effect::Remove { task, .. } => Said::WorktreeRemoved { task, left: None },
        _ => return None,
    })
}
