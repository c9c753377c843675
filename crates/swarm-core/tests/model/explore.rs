//! Breadth first over everything that can be said to the core. Two states that differ only in times,
//! counters without a limit and history count as one.

use std::collections::{HashSet, VecDeque};

use swarm_core::effect::Effect;
use swarm_core::input::{Input, Report};
use swarm_core::stage::{MergeStep, Stage};
use swarm_core::state::{State, Task};
use swarm_core::{owed, step, wakes_at};
use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::council::CouncilRules;
use swarm_protocol::event::Event;
use swarm_protocol::failure::FailureClass;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskPatch, TaskSpec};
use swarm_protocol::policy::{Allowance, Policy, ProfileRule};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::{ReviewNote, Reviewer, Verdict};
use swarm_protocol::time::Timestamp;

use crate::operations::{self, Cut};
use crate::reports::{oid, reports};

/// What is explored.
pub struct Model {
    pub plan: &'static [(&'static str, &'static [&'static str])],
    pub alphabet: Alphabet,
    pub patient: bool,
}

/// States after which a model counts as too large.
const STATES_MAX: usize = 100_000;

/// What is said to the core beside commands on tasks and ordinary reports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Alphabet {
    /// Pause, drain, a coordinator that leaves and comes back.
    pub stops: bool,
    /// Reset, profile, phases, removal.
    pub plan: bool,
    pub waivers: bool,
    pub failing_executors: bool,
    /// Agent programs that fail in every way.
    pub failures: bool,
    /// Tasks that wait to be started, modes that change, and a person's own work.
    pub by_hand: bool,
    /// Review commands are configured.
    pub reviews: bool,
    /// A person reviews.
    pub people_review: bool,
    /// An agent reviews.
    pub agent_reviews: bool,
    /// Two agents review, at the same time.
    pub council: bool,
    /// Allowances that are used up, probes; people who open and hold them.
    pub quota: bool,
    /// Rights that are denied, profiles with broader ones; people who revive agents and send words.
    pub denials: bool,
    /// Budgets of the task and the swarm.
    pub budgets: bool,
    /// The task is split.
    pub splits: bool,
    /// Work that has gone from trunk, and agents that change nothing.
    pub proofs: bool,
    /// Checks are tried on the commit that the task began with, and failures that are alike stop it.
    pub bases: bool,
    /// Checkpoints, rollback, undo, agents that are killed and sent elsewhere.
    pub operations: Option<Cut>,
}

/// A state at a moment, and what can be asked there.
#[derive(Clone)]
pub struct Place {
    pub state: State,
    pub now: Timestamp,
    asked: u64,
    pub alphabet: Alphabet,
    pub patient: bool,
}

/// Where one input leads from a place.
pub struct Next {
    /// With the events that lead there.
    pub ways: Vec<(Place, Vec<Event>)>,
    /// What people asked for in vain.
    pub refused: Vec<(Command, Refusal)>,
}

pub struct Seen {
    pub states: usize,
    pub inputs: usize,
    pub complete: bool,
}

pub fn task_id(text: &str) -> TaskId {
    TaskId::new(text).expect("a task id")
}

/// Small limits, so that each is reached soon. Without patience every first failure is the last one:
/// what counting does is seen with one task, what two do to each other without counting.
fn policy(patient: bool, alphabet: Alphabet) -> Policy {
    let n = u32::from(patient);
    Policy {
        max_retries: n,
        max_iterations: 1 + n,
        merge_rounds: 1 + n,
        races_max: 1 + n,
        transient_max: n,
        review_rounds: 1 + n,
        reviews: alphabet.reviews,
        reviewer: match (alphabet.people_review, alphabet.agent_reviews, alphabet.council) {
            (true, ..) => Some(Reviewer::Human),
            (_, true, _) => Some(Reviewer::Agent),
            (_, _, true) => Some(Reviewer::Council),
            _ => None,
        },
        council: council(alphabet),
        review_profile: alphabet.agent_reviews.then(|| "judge".into()),
        mode: if alphabet.by_hand { Mode::SemiAuto } else { Mode::Autopilot },
        crashes_max: 1,
        check_bases: alphabet.bases,
        same_failures_max: 2 * u32::from(alphabet.bases),
        // How often a task is claimed is counted in the scripts and in every simulated world: here it would only
        // multiply the states.
        claims_max: 0,
        profile: if alphabet.quota || alphabet.denials { "main".into() } else { String::new() },
        profiles: profiles(alphabet),
        task_budget: Allowance { tokens: u64::from(alphabet.budgets), ..Allowance::default() },
        budget: Allowance { tokens: 2 * u64::from(alphabet.budgets), ..Allowance::default() },
        ..Policy::default()
    }
}

fn council(alphabet: Alphabet) -> CouncilRules {
    let members = ["x", "y"].map(|name| (name.to_owned(), "judge".to_owned()));
    let none = CouncilRules::default();
    if alphabet.council { CouncilRules { members: members.into(), quorum: 1, veto: true } } else { none }
}

/// One whose allowance is used up, and one with broader rights.
fn profiles(alphabet: Alphabet) -> Vec<ProfileRule> {
    let rule = |name: &str, quota_group: &str, fallback: Vec<String>, broader: Option<String>| ProfileRule {
        name: name.into(),
        quota_group: quota_group.into(),
        fallback,
        broader,
    };
    match alphabet {
        Alphabet { quota: true, .. } => vec![rule("main", "one", vec![], None)],
        Alphabet { denials: true, .. } => {
            vec![rule("main", "one", vec![], Some("broad".into())), rule("broad", "one", vec![], None)]
        }
        _ => vec![],
    }
}

fn asks_a_person(report: &Report) -> bool {
    matches!(report, Report::Boundary { outcome: IterationOutcome::AsksHuman { .. }, .. })
}

fn overflows(report: &Report) -> bool {
    let Report::Boundary { outcome: IterationOutcome::Failed { failure }, .. } = report else { return false };
    failure.class == FailureClass::Overflow
}

pub fn plan_of(tasks: &[(&str, &[&str])]) -> PlanFile {
    let tasks = tasks.iter().map(|(id, depends)| {
        let mut spec = TaskSpec::new(task_id(id), format!("task {id}"));
        spec.depends = depends.iter().map(|d| task_id(d)).collect();
        TaskFile::from(spec)
    });
    let phase = PhaseFile { id: 1, name: "one".into(), tasks: tasks.collect(), ..PhaseFile::default() };
    let profile = ExecutionProfile {
        parallelization_enabled: true,
        council_parallel: true,
        max_concurrent_tasks: 2,
        ..ExecutionProfile::default()
    };
    PlanFile {
        goal: "goal".into(),
        phases: vec![phase],
        execution_profile: Some(profile),
        ..PlanFile::default()
    }
}

impl Alphabet {
    fn says(self, report: &Report) -> bool {
        match report {
            Report::EffectFailed { .. } if self.operations.is_some() => true,
            Report::EffectFailed { .. } | Report::VerifyLost { .. } | Report::TrunkMoved { .. } => {
                self.failing_executors
            }
            Report::ReviewAnswered { answered, .. } => match &answered.failure {
                Some(failure) => failure.class != FailureClass::Quota || self.quota,
                None => true,
            },
            Report::ReviewLost { .. } => {
                self.failing_executors || self.reviews || self.agent_reviews || self.council
            }
            Report::Boundary { outcome: IterationOutcome::Failed { failure }, .. } => match failure.class {
                FailureClass::Quota => self.quota,
                FailureClass::Denied => self.denials,
                FailureClass::Overflow => self.splits,
                _ => self.failures,
            },
            Report::Proven { missing, .. } => self.proofs || missing.is_empty(),
            Report::BuildEmpty { found, .. } => self.proofs || !found.is_empty(),
            // Whether a daemon said hello matters to a drain only.
            Report::Spawned { .. } => self.stops,
            _ => true,
        }
    }
}

impl Place {
    pub fn first(model: &Model) -> Self {
        let now = Timestamp(1_768_298_400_000);
        let mut place =
            Self { state: State::default(), now, asked: 0, alphabet: model.alphabet, patient: model.patient };
        let plan = plan_of(model.plan);
        let save = Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "plan.json".into(),
            reset_statuses: false,
        };
        place.ask(save).expect("a good plan is accepted");
        place
    }

    pub fn take_in(&mut self, input: Input) -> Result<Vec<Event>, Refusal> {
        let told = step(&mut self.state, input, self.now);
        operations::forget(&mut self.state, self.alphabet.operations);
        told
    }

    pub fn ask(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        self.asked += 1;
        let id = CommandId::new(format!("c{}", self.asked)).expect("a plain id");
        self.take_in(Input::Command(Envelope { id, by: "person:cli".into(), command }))
    }

    pub fn start(&mut self) {
        let (epoch, policy) = (self.state.epoch + 1, policy(self.patient, self.alphabet));
        let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
        self.take_in(Input::Started { epoch, version, host, trunk, policy })
            .expect("a higher epoch is accepted");
    }

    /// Waits for the next moment that matters; false when there is none.
    pub fn wait(&mut self) -> bool {
        let Some(at) = wakes_at(&self.state, self.now) else { return false };
        self.now = at;
        self.take_in(Input::Tick).expect("the clock is never refused");
        true
    }

    /// Everything people may ask here.
    pub fn wishes(&self) -> Vec<Command> {
        if let Some(cut) = self.alphabet.operations {
            return operations::wishes(cut);
        }
        let mut all = Vec::new();
        // What else people do to a task and its parts is seen in the other models.
        for task in self.state.tasks.keys().cloned() {
            if self.alphabet.splits {
                all.extend([
                    Command::UnblockTask { task: task.clone() },
                    Command::CancelTask { task: task.clone() },
                ]);
                continue;
            }
            all.extend([
                Command::BlockTask { task: task.clone(), reason: "wait".into() },
                Command::UnblockTask { task: task.clone() },
                Command::DeferTask { task: task.clone() },
                Command::CancelTask { task: task.clone() },
                Command::StopAgent { task: task.clone() },
            ]);
            if self.alphabet.waivers {
                let waive = |gate| Command::WaiveGate { task: task.clone(), gate, reason: "seen".into() };
                all.extend([waive(Gate::Check), waive(Gate::Verify)]);
                let Alphabet { reviews, people_review, agent_reviews, council, .. } = self.alphabet;
                let reviewed = reviews || people_review || agent_reviews || council;
                all.extend(reviewed.then(|| waive(Gate::Review)));
            }
            if self.alphabet.people_review {
                all.extend(self.verdicts(&task));
            }
            if self.alphabet.by_hand {
                let (base, tip, tree) = (oid('a'), oid('b'), oid('d'));
                all.push(Command::SubmitWork { task: task.clone(), base, tip, tree });
                all.push(Command::StartTasks { tasks: vec![task.clone()] });
            }
            if self.alphabet.plan {
                all.push(Command::EditTask { task: task.clone(), patch: TaskPatch::default() });
                all.push(Command::RemoveTask { task: task.clone() });
                all.push(Command::MoveTask { task, after: None, phase: None });
            }
        }
        if self.alphabet.proofs {
            let (task, reason) = (task_id("a"), String::from("seen"));
            all.extend([Command::Retry, Command::AcceptTask { task, reason }]);
        }
        self.wishes_of_recovery(&mut all);
        if self.alphabet.by_hand {
            all.push(Command::StartTasks { tasks: vec![] });
            all.extend(Mode::ALL.map(|mode| Command::SetMode { mode }));
        }
        all.extend(self.alphabet.bases.then_some(Command::Resume { reason: PauseReason::Checks }));
        all.extend([PauseReason::Trunk, PauseReason::Setup].map(|reason| Command::Resume { reason }));
        if self.alphabet.stops {
            all.push(Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: false });
            all.push(Command::Resume { reason: PauseReason::User });
            all.extend((!self.alphabet.reviews).then(|| Command::Pause {
                reason: PauseReason::Close,
                why: "close".into(),
                force: true,
            }));
            all.push(Command::Drain { why: "Ctrl+C".into() });
        }
        if self.alphabet.plan {
            all.extend([Command::ResetPlan, Command::LockProfile, Command::CompletePhase { phase: 1 }]);
            all.push(Command::SetProfile { profile: ExecutionProfile::default() });
        }
        all
    }

    /// Of what was submitted, and of something else.
    fn verdicts(&self, task: &TaskId) -> Vec<Command> {
        let submitted = match self.state.task(task).map(|task| &task.stage) {
            Some(Stage::Review { tip, .. }) => tip.clone(),
            _ => oid('b'),
        };
        let note = ReviewNote { text: "not yet".into(), ..ReviewNote::default() };
        let changes = Verdict::NeedsChanges { notes: vec![note] };
        let verdicts = [Verdict::Approve { tip: submitted }, Verdict::Approve { tip: oid('e') }, changes];
        verdicts.map(|verdict| Command::Review { task: task.clone(), verdict }).into()
    }

    /// What people may ask about quota, agents, budgets and parts.
    fn wishes_of_recovery(&self, all: &mut Vec<Command>) {
        let first = task_id("a");
        let degraded = self.state.agents.iter().filter(|(_, agent)| agent.degraded.is_some());
        if self.alphabet.quota {
            all.push(Command::OpenQuota { group: "one".into() });
            all.push(Command::HoldQuota { group: "one".into() });
        }
        if self.alphabet.denials {
            all.extend(degraded.map(|(id, _)| Command::ReviveAgent { agent: id.clone() }).take(1));
            let waiting = self.state.task(&first).map_or(0, |t| t.messages.len());
            if waiting == 0 {
                all.push(Command::MessageAgent { task: first.clone(), text: "use the old parser".into() });
            }
        }
        if self.alphabet.budgets {
            all.push(Command::ExtendBudget { task: None });
            all.push(Command::ExtendBudget { task: Some(first.clone()) });
        }
        if self.alphabet.splits {
            let parts = ["x", "y"].map(|id| TaskSpec::new(task_id(id), "a part"));
            all.push(Command::SplitTask { task: first, parts: parts.into() });
        }
    }

    /// The places one input away.
    pub fn next(&self) -> Next {
        let (mut next, mut refused) = (Vec::new(), Vec::new());
        // What is refused changes nothing, so the copy is good for the next.
        let mut spare = None;
        let mut add = |change: &dyn Fn(&mut Place) -> Result<Vec<Event>, Refusal>| {
            let mut place = spare.take().unwrap_or_else(|| self.clone());
            match change(&mut place) {
                Ok(events) if events.is_empty() => {}
                Ok(events) => next.push((place, events)),
                Err(refusal) => {
                    spare = Some(place);
                    return Err(refusal);
                }
            }
            Ok(())
        };
        for command in self.wishes() {
            if let Err(refusal) = add(&|place| place.ask(command.clone())) {
                refused.push((command, refusal));
            }
        }
        // Other inputs may be refused: a report may come too late.
        let mut add = |change: &dyn Fn(&mut Place) -> Result<Vec<Event>, Refusal>| drop(add(change));
        // Trunk moves under a swarm that has work on it: seen in the model that looks work up again.
        let idle_watch = |e: &Effect| matches!(e, Effect::WatchTrunk { task: None, .. });
        for effect in owed(&self.state).into_iter().filter(|e| self.alphabet.proofs || !idle_watch(e)) {
            for (n, report) in reports(&self.state, &effect).into_iter().enumerate() {
                let telling =
                    n == 0 || asks_a_person(&report) || overflows(&report) || operations::is_theirs(&effect);
                let few = self.alphabet.splits || self.alphabet.operations.is_some();
                if !self.alphabet.says(&report) || (few && !telling) {
                    continue;
                }
                add(&|place| place.take_in(Input::Report(report.clone())));
            }
        }
        add(&|place| {
            let Some(at) = wakes_at(&place.state, place.now) else { return Ok(vec![]) };
            place.now = at;
            place.take_in(Input::Tick)
        });
        if self.state.running && self.alphabet.stops {
            add(&|place| place.take_in(Input::Leaving));
        } else if !self.state.running {
            let (version, host, trunk) = (String::from("0"), String::from("here"), String::from("main"));
            let epoch = self.state.epoch + 1;
            add(&|place| {
                let (version, host, trunk, policy) =
                    (version.clone(), host.clone(), trunk.clone(), policy(self.patient, self.alphabet));
                place.take_in(Input::Started { epoch, version, host, trunk, policy })
            });
        }
        Next { ways: next, refused }
    }

    /// Everything that decides what can happen next.
    pub fn key(&self) -> String {
        let s = &self.state;
        let mut key = format!(
            "{:?}{}{}{}{:?}{:?}{}{}{}{}|",
            s.trunk_held_by,
            s.draining,
            s.proven.is_some(),
            s.running,
            s.paused.keys(),
            s.mode(),
            s.green.contains(&oid('a')),
            s.red_trunk.is_some(),
            s.setup_failures.count.min(3),
            s.plan.as_ref().is_some_and(|p| p.profile.locked)
        );
        for (id, task) in &s.tasks {
            key += &format!("{id}:{};", self.task_key(task));
        }
        for run in s.runs.values() {
            key += &format!("{:?}{}{}{};", run.kind, run.task, run.spawned, run.ended);
            if self.alphabet.failures || self.alphabet.denials {
                key += &format!("{}{:?}", run.nudged, run.profile);
            }
        }
        for (group, gate) in &s.quotas {
            let closed =
                gate.closed.as_ref().map(|c| (c.held, c.probing.is_some(), c.next_probe <= self.now));
            let late = s.runs.values().any(|run| run.nth <= gate.opened_after);
            key += &format!("{group}{closed:?}{late};");
        }
        if self.alphabet.operations.is_some() {
            key += &operations::key(s);
        }
        if self.alphabet.bases {
            let suspects = s.bases.suspects.values().map(|suspect| (suspect.run.is_some(), suspect.lost));
            key += &format!("{:?}{}", suspects.collect::<Vec<_>>(), s.bases.tried.len());
        }
        if self.alphabet.budgets {
            key += &format!("{}", s.spent.since(s.spent_before).tokens.min(2));
        }
        key
    }

    fn task_key(&self, task: &Task) -> String {
        let due = |at: &Timestamp| if *at <= self.now { "due" } else { "later" };
        let stage = match &task.stage {
            Stage::Pending { not_before, .. } => due(not_before).to_string(),
            Stage::Active { iteration, .. } | Stage::Checking { iteration, .. } => iteration.to_string(),
            Stage::Review { not_before, run, beside, .. } => {
                let voices: Vec<String> =
                    task.seats().map(|(name, seat)| format!("{name}{:?}", seat.voice)).collect();
                format!("{}{}{}{voices:?}", due(not_before), run.is_some(), beside.len())
            }
            Stage::Approved { not_before, waits, .. } => {
                format!("{}{:?}", due(not_before), waits.as_ref().map(|w| w.paths.len()))
            }
            Stage::Merging { races, step, .. } => match step {
                MergeStep::Building => format!("b{races}"),
                MergeStep::Verifying { .. } => format!("v{races}"),
                MergeStep::Publishing { .. } => format!("p{races}"),
                MergeStep::Suspect { .. } => format!("s{races}"),
                MergeStep::Trial { .. } => format!("t{races}"),
            },
            Stage::Blocked { block, .. } => block.word().to_string(),
            Stage::Restarting { not_before, .. } => due(not_before).to_string(),
            Stage::Split { parts, not_before, .. } => format!("{}{}", parts.len(), due(not_before)),
            _ => String::new(),
        };
        let Alphabet { failures, quota, denials, budgets, splits, .. } = self.alphabet;
        let mut more = String::new();
        if failures || splits {
            more += &format!("{},{}", task.crashes.min(2), task.overflows.min(1));
        }
        if task.left.is_some() {
            more += "left";
        }
        if self.alphabet.proofs {
            let work = matches!(&task.stage, Stage::Gone { work: Some(_), .. });
            let was = task.was.as_ref().map(|was| was.word());
            more += &format!("{},{},{work}{was:?}", task.empties.min(2), task.landed_before.len());
        }
        if self.alphabet.bases {
            more += &format!("{:?}", task.same_failure.as_ref().map(|same| same.count.min(2)));
        }
        if self.alphabet.stops && task.submitted.is_some() {
            more += "submitted";
        }
        if task.withheld.is_some() {
            more += "withheld";
        }
        if quota {
            more += &task.first.to_string();
        }
        if denials {
            let landed = task.messages.front().map(|m| m.landed.is_some());
            more += &format!("{:?}{:?}{landed:?}", task.assigned, task.denied_under);
        }
        if budgets {
            more += &task.spent.since(task.spent_before).tokens.min(1).to_string();
        }
        format!(
            "{}{stage},{more},{},{},{},{},{},{},{},{:?},{},{},{}",
            task.stage.name(),
            task.started,
            task.retries.min(2),
            task.transient_retries.min(2),
            task.once_more.min(2),
            task.review_rounds.min(2),
            task.merge_rounds.min(2),
            task.effect_failures.min(5),
            task.waived,
            task.worktree,
            task.kept.is_some(),
            task.verified.is_some()
        )
    }
}

/// Visits every state once, and every way from one to the next.
pub fn explore_edges(
    model: &Model,
    mut visit: impl FnMut(&Place, &[(Command, Refusal)]),
    mut edge: impl FnMut(&Place, &[Event], &Place),
) -> Seen {
    let first = Place::first(model);
    let mut known = HashSet::from([first.key()]);
    let mut queue = VecDeque::from([first]);
    let mut inputs = 0;
    while let Some(place) = queue.pop_front() {
        let Next { ways, refused } = place.next();
        visit(&place, &refused);
        for (next, events) in ways {
            inputs += 1;
            edge(&place, &events, &next);
            if known.len() >= STATES_MAX {
                return Seen { states: known.len(), inputs, complete: false };
            }
            if known.insert(next.key()) {
                queue.push_back(next);
            }
        }
    }
    Seen { states: known.len(), inputs, complete: true }
}
