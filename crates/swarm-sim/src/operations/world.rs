//! A swarm at which operations are tried: the core, a ledger, a model of git, and an executor that may be
//! killed at any seam.

mod agents;

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::effect::{Effect, Key, WorkOrder};
use swarm_core::flight::Flights;
use swarm_core::input::{Input, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_core::{owed, step, wakes_at};
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::operation::HookRule;
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskSpec};
use swarm_protocol::policy::{CheckpointRules, Policy};
use swarm_protocol::record::{body, event_of};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::git::{Git, Tree};
use crate::claims::Claims;

#[derive(Debug, Clone)]
pub struct OperationWorld {
    pub state: State,
    pub git: Git,
    pub now: Timestamp,
    /// Batches that are durable.
    pub log: Vec<(Timestamp, Vec<Event>)>,
    asked: u64,
    /// Seams passed so far, and the one at which memory is lost.
    pub seams: u64,
    pub kill_at: Option<u64>,
    /// Hooks that ran, by number.
    pub hooks_run: Vec<u64>,
    /// What the agent of each task handed in last.
    pub handed: BTreeMap<TaskId, Tree>,
    policy: Policy,
    flights: Flights,
    /// Begun and not ended: agents at work, and what is next to be carried out.
    begun: BTreeMap<Key, Effect>,
    claims: Claims,
}

pub fn task_id(text: &str) -> TaskId {
    TaskId::new(text).expect("a plain id")
}

impl OperationWorld {
    /// Thirteen tasks, four slots or more, checkpoints and hooks on.
    pub fn new(slots: u32) -> Self {
        let rules = CheckpointRules {
            session_start: true,
            before_autopilot: true,
            before_merge: true,
            before_risky: true,
            periodic: 2,
            keep: 8,
            keep_secs: 0,
        };
        let hook = |name: &str, blocking| HookRule { name: name.into(), blocking };
        let policy = Policy {
            mode: Mode::SemiAuto,
            checkpoints: rules,
            hooks: vec![hook("pre-start", true), hook("post-complete", false), hook("on-pause", false)],
            verifies: false,
            ..Policy::default()
        };
        let mut world = Self {
            state: State::default(),
            git: Git::default(),
            now: Timestamp(1_768_298_400_000),
            log: vec![],
            asked: 0,
            seams: 0,
            kill_at: None,
            hooks_run: vec![],
            handed: BTreeMap::new(),
            policy,
            flights: Flights::default(),
            begun: BTreeMap::new(),
            claims: Claims::default(),
        };
        world.git.person_commits("first");
        let tasks = (0..13).map(|n| {
            let mut spec = TaskSpec::new(task_id(&format!("t{n}")), format!("task {n}"));
            if n == 1 {
                spec.depends = vec![task_id("t0")];
            }
            TaskFile::from(spec)
        });
        let profile = ExecutionProfile {
            parallelization_enabled: slots > 1,
            max_concurrent_tasks: slots,
            ..ExecutionProfile::default()
        };
        let phase = PhaseFile { id: 1, name: "one".into(), tasks: tasks.collect(), ..PhaseFile::default() };
        let plan = PlanFile {
            goal: "goal".into(),
            phases: vec![phase],
            execution_profile: Some(profile),
            ..PlanFile::default()
        };
        let save = Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "plan.json".into(),
            reset_statuses: false,
            planning: None,
        };
        world.ask(save).expect("a good plan");
        world.start();
        world.drive();
        world
    }

    pub fn start(&mut self) {
        let epoch = self.state.epoch + 1;
        let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
        let policy = self.policy.clone();
        self.take_in(Input::Started { epoch, version, host, trunk, policy }).expect("a higher epoch");
    }

    /// Decides; the decision is durable when this returns.
    pub fn take_in(&mut self, input: Input) -> Result<Vec<Event>, Refusal> {
        self.now = self.now.plus_ms(10);
        let events = step(&mut self.state, input, self.now)?;
        if !events.is_empty() {
            let written = events.iter().map(|event| body(event, "person:cli", None));
            let read = written.map(|body| event_of(body.as_bytes()).expect("a written record can be read"));
            let read: Vec<Event> = read.collect();
            assert!(read == events, "records come back as they were: {events:?}");
            for event in &read {
                if let Err((rule, text)) = self.claims.judge(event) {
                    panic!("{rule}: {text}");
                }
                self.claims.read(event);
            }
            self.log.push((self.now, read));
        }
        Ok(events)
    }

    pub fn ask(&mut self, command: Command) -> Result<CommandId, Refusal> {
        self.asked += 1;
        let id = CommandId::new(format!("op-{}", self.asked)).expect("a plain id");
        self.take_in(Input::Command(Envelope { id: id.clone(), by: "person:cli".into(), command }))?;
        Ok(id)
    }

    /// The state at a ledger position.
    pub fn replayed(&self, to: u64) -> State {
        let mut state = State::default();
        for (at, event) in self.log.iter().flat_map(|(at, events)| events.iter().map(move |e| (at, e))) {
            if state.seq < to {
                state.apply(event, *at);
            }
        }
        state
    }

    /// A seam: whoever is to be killed here is, and another one takes over.
    fn seam(&mut self) -> bool {
        self.seams += 1;
        if self.kill_at != Some(self.seams) {
            return false;
        }
        let replayed = self.replayed(u64::MAX);
        assert!(replayed == self.state, "replay is not what memory was");
        self.state = replayed;
        self.state.rebuild_index();
        (self.flights, self.begun) = Default::default();
        self.start();
        true
    }

    /// Carries out what is owed until only agents at work are left.
    pub fn drive(&mut self) {
        self.drive_until(|_| false);
    }

    /// Until the operation that moves git is over, and no further.
    pub fn drive_operation(&mut self) {
        self.drive_until(|state| state.ops.running.is_none());
    }

    fn drive_until(&mut self, over: impl Fn(&State) -> bool) {
        let mut waits: BTreeSet<Key> = BTreeSet::new();
        for _ in 0..2_000 {
            if over(&self.state) {
                return;
            }
            let effect = match self.next_effect(&waits) {
                Next::Effect(effect) => effect,
                Next::RestsUntil(moment) => {
                    self.now = moment;
                    continue;
                }
                Next::Nothing if self.idle_clock() => continue,
                Next::Nothing => return,
            };
            if self.seam() {
                waits.clear();
                continue;
            }
            match self.deed(&effect) {
                Some(report) => {
                    if !self.seam() {
                        self.report(report);
                        self.has_ended(&effect.key());
                    }
                }
                None => drop(waits.insert(effect.key())),
            }
        }
        panic!("it never comes to rest: {:?}", owed(&self.state));
    }

    /// What the core says about the effects that are owed now.
    fn next_effect(&mut self, waits: &BTreeSet<Key>) -> Next {
        loop {
            let owed = owed(&self.state);
            let moves = self.flights.moves(owed.clone(), self.now);
            let changed = moves.change.into_iter().chain(moves.start);
            self.begun.extend(changed.map(|effect| (effect.key(), effect)));
            // Whoever is told to stop stops at once; what a run says that is over is heard by nobody.
            moves.cancel.iter().for_each(|key| self.has_ended(key));
            if !moves.cancel.is_empty() {
                continue;
            }
            let ready = |e: &&Effect| self.begun.contains_key(&e.key()) && !waits.contains(&e.key());
            return match owed.iter().filter(ready).find(|e| !is_agent(e)) {
                Some(effect) => Next::Effect(effect.clone()),
                None => moves.look_again.map_or(Next::Nothing, Next::RestsUntil),
            };
        }
    }

    fn has_ended(&mut self, key: &Key) {
        let still_owed = owed(&self.state).iter().any(|effect| effect.key() == *key);
        self.flights.ended(key, still_owed, self.now);
        self.begun.remove(key);
    }

    /// Lets a moment pass that something waits for; false when nothing near does.
    fn idle_clock(&mut self) -> bool {
        let Some(at) = wakes_at(&self.state, self.now).filter(|at| at.0 < self.now.0 + 60_000) else {
            return false;
        };
        self.now = at;
        !self.take_in(Input::Tick).expect("the clock is never refused").is_empty()
    }

    pub fn report(&mut self, report: Report) {
        self.take_in(Input::Report(report)).expect("a report is never refused");
    }

    pub fn stage(&self, task: &str) -> Option<&Stage> {
        self.state.task(&task_id(task)).map(|t| &t.stage)
    }
}

enum Next {
    Effect(Effect),
    /// An effect failed and is asked for again then.
    RestsUntil(Timestamp),
    Nothing,
}

fn is_agent(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Work { order: WorkOrder::Go { .. } | WorkOrder::Check { .. } | WorkOrder::Hold, .. }
            | Effect::Watch { .. }
            | Effect::WatchTrunk { .. }
    )
}
