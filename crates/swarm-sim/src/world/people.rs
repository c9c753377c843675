//! People who intervene at random: each command with an id, sometimes asked twice, always asked
//! again when the answer was lost.

use std::collections::BTreeMap;

use swarm_core::stage::Stage;
use swarm_core::state::{State, Task};
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::ids::{AgentId, CommandId, TaskId};
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskPatch, TaskSpec};
use swarm_protocol::review::{ReviewNote, Verdict};

use super::reserving::Reserving;
use crate::rng::Rng;

#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    pub id: CommandId,
    pub command: Command,
}

impl Wish {
    pub fn envelope(&self) -> Envelope {
        Envelope { id: self.id.clone(), by: "person:cli".into(), command: self.command.clone() }
    }
}

#[derive(Debug, Default)]
pub struct People {
    wishes: u64,
    /// Asked and not answered yet.
    pub waiting: BTreeMap<CommandId, Wish>,
    tasks_added: u64,
    pub reserving: Reserving,
}

/// Tasks a plan grows to; more would only make every story longer.
const TASKS_MAX: usize = 9;

impl People {
    pub fn who_reserve(reserving: Reserving) -> Self {
        Self { reserving, ..Self::default() }
    }

    pub fn wish(&mut self, command: Command) -> Wish {
        self.wishes += 1;
        Wish { id: CommandId::new(format!("c-{}", self.wishes)).expect("a plain id"), command }
    }

    /// The plan that a story begins with.
    pub fn first_plan(&mut self, rng: &mut Rng) -> Command {
        let count = rng.between(2, 6);
        let mut phases: Vec<PhaseFile> = (1..=rng.between(1, 2))
            .map(|id| PhaseFile { id: id as u32, name: format!("phase {id}"), ..PhaseFile::default() })
            .collect();
        let mut known: Vec<TaskId> = Vec::new();
        for n in 0..count {
            let phase = rng.index(phases.len());
            let mut spec = TaskSpec::new(task_id(&format!("t{n}")), format!("task {n}"));
            spec.depends = known.iter().filter(|_| rng.chance(25)).cloned().collect();
            spec.priority = rng.chance(30).then(|| rng.below(5) as u8);
            self.reserving.task(&mut spec);
            known.push(spec.id.clone());
            phases[phase].tasks.push(TaskFile::from(spec));
        }
        let execution_profile = Some(profile(rng));
        let plan = PlanFile { goal: "a story".into(), phases, execution_profile, ..PlanFile::default() };
        Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "plan.json".into(),
            reset_statuses: false,
            planning: None,
        }
    }

    /// Something a person might do now; often refused, which must change nothing.
    pub fn intervene(&mut self, rng: &mut Rng, state: &State) -> Command {
        let ids: Vec<&TaskId> = state.tasks.keys().collect();
        if ids.is_empty() {
            return without_locked_profile(self.first_plan(rng), state);
        }
        if let Some(command) = self.reserving.wish(state) {
            return command;
        }
        let task = ids[rng.index(ids.len())].clone();
        match rng.below(144) {
            0..12 => Command::BlockTask { task, reason: "wait for me".into() },
            12..15 => Command::Retry,
            15..30 => self.put_back(rng, state).unwrap_or(Command::UnblockTask { task }),
            30..37 => Command::DeferTask { task },
            37..40 => Command::CancelTask { task },
            40..45 => {
                let gate = *rng.pick(&Gate::ALL);
                Command::WaiveGate { task, gate, reason: "seen it by eye".into() }
            }
            45 => Command::Pause { reason: PauseReason::Close, why: "swarm close".into(), force: true },
            46..51 => Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: false },
            51..61 => {
                let reason = state.paused.keys().next().copied().unwrap_or(PauseReason::User);
                Command::Resume { reason }
            }
            61..69 => Command::StopAgent { task },
            69..73 => self.edit(rng, state, task),
            73..80 => self.add(rng, state),
            80..83 => {
                let after = rng.chance(50).then(|| ids[rng.index(ids.len())].clone());
                Command::MoveTask { task, after, phase: None }
            }
            83..86 => self.save_again(rng, state),
            86..91 => Command::SetProfile { profile: profile(rng) },
            91 => Command::LockProfile,
            92 => Command::ResetPlan,
            93..95 => Command::Drain { why: "Ctrl+C".into() },
            95..97 => Command::RemoveTask { task },
            97 => Command::ApprovePlan,
            98 => Command::CompletePhase { phase: rng.between(1, 2) as u32 },
            99 => Command::RecordExport { path: ".swarm/SWARM_PLAN.json".into() },
            100..104 => Command::SetMode { mode: *rng.pick(&Mode::ALL) },
            104..109 => Command::StartTasks { tasks: vec![] },
            109..112 => reviewed_by(task, Some("human")),
            112 => reviewed_by(task, None),
            113..118 => self.judge(rng, state, task),
            118..125 => Command::MessageAgent { task, text: "use the old parser".into() },
            125..132 => {
                self.split(rng, state).unwrap_or(Command::SplitTask { task, parts: vec![], planning: None })
            }
            132 => quota(rng, state, false),
            133..139 => quota(rng, state, true),
            139..142 => revive(rng, state),
            142 => Command::ExtendBudget { task: None },
            143 => Command::ExtendBudget { task: Some(task) },
            _ => self.start(rng, state).unwrap_or(Command::StartTasks { tasks: vec![task] }),
        }
    }

    /// Starts a task that waits for it, if there is one.
    fn start(&mut self, rng: &mut Rng, state: &State) -> Option<Command> {
        let waiting: Vec<&TaskId> =
            state.tasks.iter().filter(|(_, t)| state.needs_start(t)).map(|(id, _)| id).collect();
        if waiting.is_empty() {
            return None;
        }
        Some(Command::StartTasks { tasks: vec![waiting[rng.index(waiting.len())].clone()] })
    }

    /// Unblocks a task that a person can help, if there is one.
    fn put_back(&mut self, rng: &mut Rng, state: &State) -> Option<Command> {
        let stuck: Vec<&TaskId> =
            state.tasks.iter().filter(|(_, t)| waits_for_a_person(&t.stage)).map(|(id, _)| id).collect();
        if stuck.is_empty() {
            None
        } else {
            Some(Command::UnblockTask { task: stuck[rng.index(stuck.len())].clone() })
        }
    }

    /// Splits a task that nobody works on, if there is one and the plan has room.
    fn split(&mut self, rng: &mut Rng, state: &State) -> Option<Command> {
        let idle = |(_, t): &(&TaskId, &swarm_core::state::Task)| {
            matches!(t.stage, Stage::Pending { .. }) || waits_for_a_person(&t.stage)
        };
        let idle: Vec<&TaskId> = state.tasks.iter().filter(idle).map(|(id, _)| id).collect();
        if idle.is_empty() || state.tasks.len() + 2 > TASKS_MAX + 4 {
            return None;
        }
        let parts = (0..2).map(|_| {
            self.tasks_added += 1;
            TaskSpec::new(task_id(&format!("s{}", self.tasks_added)), "a part")
        });
        let parts = parts.collect();
        Some(Command::SplitTask { task: idle[rng.index(idle.len())].clone(), parts, planning: None })
    }

    /// A word about work that was submitted, if there is some.
    fn judge(&mut self, rng: &mut Rng, state: &State, task: TaskId) -> Command {
        let submitted = state.tasks.values().find_map(approval);
        match submitted {
            Some(approve) if rng.chance(50) => approve,
            Some(Command::Review { task, .. }) => Command::Review { task, verdict: wants_changes() },
            _ => Command::Review { task, verdict: wants_changes() },
        }
    }

    fn edit(&mut self, rng: &mut Rng, state: &State, task: TaskId) -> Command {
        let mut patch = TaskPatch::default();
        if rng.chance(50) {
            patch.title = Some(format!("title {}", rng.below(100)));
        } else {
            // Any other tasks: a circle is refused.
            patch.depends =
                Some(state.tasks.keys().filter(|id| **id != task && rng.chance(15)).cloned().collect());
        }
        Command::EditTask { task, patch }
    }

    pub fn add(&mut self, rng: &mut Rng, state: &State) -> Command {
        self.tasks_added += 1;
        let mut spec = TaskSpec::new(task_id(&format!("x{}", self.tasks_added)), "one more");
        spec.depends = state.tasks.keys().filter(|_| rng.chance(10)).cloned().collect();
        self.reserving.task(&mut spec);
        if state.tasks.len() >= TASKS_MAX {
            // Refused, as the id is taken.
            spec.id = state.tasks.keys().next().cloned().unwrap_or(spec.id);
        }
        Command::AddTask { phase: None, after: None, task: spec }
    }

    /// The plan as it is, with one title changed and sometimes one task less.
    fn save_again(&mut self, rng: &mut Rng, state: &State) -> Command {
        let mut phases = Vec::new();
        for phase in state.plan.iter().flat_map(|plan| &plan.phases) {
            let mut tasks: Vec<TaskFile> = phase
                .tasks
                .iter()
                .filter_map(|id| state.tasks.get(id))
                .map(|t| TaskFile::from(t.spec.clone()))
                .collect();
            let is_done =
                |task: &TaskFile| state.task(&task.id).is_some_and(|t| matches!(t.stage, Stage::Done { .. }));
            if let Some(task) = tasks.first_mut().filter(|task| !is_done(task)) {
                task.title = format!("title {}", rng.below(100));
            }
            if rng.chance(30) {
                tasks.pop();
            }
            phases.push(PhaseFile { id: phase.id, name: phase.name.clone(), tasks, ..PhaseFile::default() });
        }
        let plan = PlanFile { goal: "a story, told again".into(), phases, ..PlanFile::default() };
        let reset_statuses = rng.chance(10);
        Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "plan.json".into(),
            reset_statuses,
            planning: None,
        }
    }
}

/// A person's approval of what was submitted; also where somebody else is to review it, who is not overruled.
pub fn approval(task: &Task) -> Option<Command> {
    let Stage::Review { tip, .. } = &task.stage else { return None };
    Some(Command::Review {
        task: task.spec.id.clone(),
        verdict: Verdict::Approve { tip: tip.clone(), left_out: None },
    })
}

fn wants_changes() -> Verdict {
    let note = ReviewNote { text: "not yet".into(), ..ReviewNote::default() };
    Verdict::NeedsChanges { notes: vec![note] }
}

fn reviewed_by(task: TaskId, reviewer: Option<&str>) -> Command {
    let review = Some(reviewer.map(str::to_owned));
    Command::EditTask { task, patch: TaskPatch { review, ..TaskPatch::default() } }
}

pub fn waits_for_a_person(stage: &Stage) -> bool {
    matches!(
        stage,
        Stage::Blocked { .. }
            | Stage::Failed { .. }
            | Stage::Timeout { .. }
            | Stage::Deferred
            | Stage::Gone { .. }
    )
}

/// Opens or holds a gate, any one that is closed first.
fn quota(rng: &mut Rng, state: &State, opens: bool) -> Command {
    let closed = state.quotas.iter().filter(|(_, gate)| gate.closed.is_some());
    let groups: Vec<&String> = closed.map(|(group, _)| group).collect();
    let group = if groups.is_empty() { "default".into() } else { groups[rng.index(groups.len())].clone() };
    if opens { Command::OpenQuota { group } } else { Command::HoldQuota { group } }
}

fn revive(rng: &mut Rng, state: &State) -> Command {
    let agents: Vec<&AgentId> = state.agents.keys().collect();
    let agent = match agents.is_empty() {
        true => AgentId::nth(1),
        false => agents[rng.index(agents.len())].clone(),
    };
    Command::ReviveAgent { agent }
}

/// A locked profile refuses every plan that carries one.
fn without_locked_profile(mut save: Command, state: &State) -> Command {
    if let Command::SavePlan { plan, .. } = &mut save
        && state.plan.as_ref().is_some_and(|plan| plan.profile.locked)
    {
        plan.execution_profile = None;
    }
    save
}

fn profile(rng: &mut Rng) -> ExecutionProfile {
    ExecutionProfile {
        parallelization_enabled: rng.chance(80),
        max_concurrent_tasks: rng.between(1, 4) as u32,
        council_parallel: rng.chance(50),
        ..ExecutionProfile::default()
    }
}

fn task_id(text: &str) -> TaskId {
    TaskId::new(text).expect("a plain id")
}
