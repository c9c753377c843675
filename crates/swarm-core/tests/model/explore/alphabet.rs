//! What is said in a model, and by which rules it is decided.

use swarm_core::input::Report;
use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::council::CouncilRules;
use swarm_protocol::failure::FailureClass;
use swarm_protocol::outcome::{Gate, Mode};
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskSpec};
use swarm_protocol::policy::{Allowance, Policy, ProfileRule};
use swarm_protocol::review::Reviewer;

use super::task_id;
use crate::operations::Cut;

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
    /// Scans of the work that find something, and people who pass over them.
    pub scans: bool,
    /// Branches that are changed after their approval.
    pub late_changes: bool,
    /// Merges that change protected files.
    pub protected: bool,
    /// No command checks what is handed in.
    pub no_checks: bool,
    /// No command verifies what is merged.
    pub no_verification: bool,
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

/// Small limits, so that each is reached soon. Without patience every first failure is the last one:
/// what counting does is seen with one task, what two do to each other without counting.
pub(super) fn policy(patient: bool, alphabet: Alphabet) -> Policy {
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
        checks: !alphabet.no_checks,
        verifies: !alphabet.no_verification,
        resolve_max: if alphabet.operations == Some(Cut::Resolved) { 1 + n } else { 0 },
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
        ..ProfileRule::default()
    };
    match alphabet {
        Alphabet { quota: true, .. } => vec![rule("main", "one", vec![], None)],
        Alphabet { denials: true, .. } => {
            vec![rule("main", "one", vec![], Some("broad".into())), rule("broad", "one", vec![], None)]
        }
        _ => vec![],
    }
}

pub(super) fn asks_a_person(report: &Report) -> bool {
    matches!(report, Report::Boundary { outcome: IterationOutcome::AsksHuman { .. }, .. })
}

pub(super) fn overflows(report: &Report) -> bool {
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
    pub(super) fn says(self, report: &Report) -> bool {
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
            Report::Checked { gate: Some(Gate::Scan), .. } => self.scans,
            Report::Checked { passed: false, .. } => !self.no_checks,
            Report::Built { protected, .. } => self.protected || protected.is_empty(),
            Report::BranchChanged { .. } => self.late_changes,
            // Whether a daemon said hello matters to a drain only.
            Report::Spawned { .. } => self.stops,
            _ => true,
        }
    }
}
