//! Everything the swarm knows, made of its events and of nothing else.

mod recovery;
mod trunk;

pub use recovery::{
    Agent, Bases, Closed, Degraded, Landed, Message, Nudge, QuotaGate, SameFailure, Spent, Suspect,
};

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::RunKind;
use swarm_protocol::failure::{Failure, Usage};
use swarm_protocol::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{Left, SavedStage};
use swarm_protocol::outcome::{Ended, Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, Extra, TaskSpec};
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;

use crate::index::Index;
use crate::stage::Stage;

/// The format of a serialised `State`; a snapshot of another one is not read but replayed.
pub const STATE_FORMAT: u32 = 6;

/// Why a task waits whose agent a person stopped.
pub const STOPPED_BY_A_PERSON: &str = "a person stopped its agent";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Records taken in so far: the seq of the last one.
    pub seq: u64,
    /// The time of the last record.
    pub at: Timestamp,
    pub epoch: u64,
    pub plan: Option<Plan>,
    pub tasks: BTreeMap<TaskId, Task>,
    /// Runs whose processes may exist: claimed and not yet proven gone.
    pub runs: BTreeMap<RunId, Run>,
    /// All agents there ever were; idle ones take the next task.
    pub agents: BTreeMap<AgentId, Agent>,
    pub runs_ever: u64,
    /// Who has the trunk. Given back by a report, never by a change of stage.
    pub trunk_held_by: Option<TaskId>,
    /// The branch that finished work goes to, as the last coordinator recorded it.
    pub trunk: Option<String>,
    /// The plan has been run: trunk is its own from then on, whatever is checked out.
    #[serde(default)]
    pub trunk_pinned: bool,
    /// The record by which another branch became trunk; what is older speaks of the one before.
    #[serde(default)]
    pub trunk_since: u64,
    pub policy: Policy,
    pub paused: BTreeMap<PauseReason, Pause>,
    /// What a person chose; none: as the policy says.
    pub mode: Option<Mode>,
    /// Commits that were found green, alone or as a merge, newest last (bounded).
    pub green: VecDeque<Oid>,
    /// Trunk was found red here; until it moves or a person resumes.
    pub red_trunk: Option<RedTrunk>,
    /// Commits that tasks began with and whose checks failed.
    #[serde(default)]
    pub bases: Bases,
    /// Worktrees that could not be set up, alike and in a row.
    pub setup_failures: SetupFailures,
    /// Groups of profiles whose allowance was used up at least once.
    pub quotas: BTreeMap<String, QuotaGate>,
    /// What all runs have spent, and how much of it the present budget does not count.
    pub spent: Spent,
    pub spent_before: Spent,
    /// Where trunk was when everything that is done was last looked up on it; none: it has to be looked up.
    #[serde(default)]
    pub proven: Option<Oid>,
    /// Why that could not be done, and since when.
    #[serde(default)]
    pub proof_failed: Option<Stuck>,
    pub draining: bool,
    /// A coordinator is at work (or died without a word).
    pub running: bool,
    pub answers: VecDeque<PastAnswer>,
    pub loss: Option<String>,
    /// What people decided, newest last (bounded).
    pub decisions: VecDeque<Audit>,
    pub plan_events_since_snapshot: u64,
    /// A phase was completed since the last snapshot event.
    pub snapshot_due: bool,
    /// Checkpoints and hooks that fall due are events of their own. False in the part of a ledger that was
    /// written before they were.
    #[serde(default)]
    pub explicit: bool,
    /// Operations, checkpoints, hooks.
    pub ops: crate::operation::Operations,
    #[serde(skip)]
    pub(crate) index: Index,
}

/// Since when and why nothing new is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    pub since: Timestamp,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedTrunk {
    pub commit: Oid,
    /// Whose merge found it out; not to blame.
    pub task: TaskId,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupFailures {
    /// What was said, without the name of the task.
    pub text: String,
    pub count: u32,
}

/// Header of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub ledger_id: String,
    pub goal: String,
    pub phases: Vec<Phase>,
    pub extra: Extra,
    pub profile: ExecutionProfile,
    pub approved: Option<Approved>,
    pub closed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approved {
    pub structure_hash: String,
    /// The structure as it was then.
    pub plan: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    pub id: u32,
    pub name: String,
    pub extra: Extra,
    pub complete: bool,
    /// Its tasks in the order of the plan.
    pub tasks: Vec<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub spec: TaskSpec,
    pub phase: u32,
    /// Place within the phase; has gaps, so that a move touches one task.
    pub rank: i64,
    pub stage: Stage,
    /// Attempts so far, of any ending.
    pub attempts: u32,
    /// Attempts that ended by crash, timeout or loss.
    pub retries: u32,
    /// Failures in a row that are nobody's fault: services, networks, lost reviews.
    pub transient_retries: u32,
    /// Answers in a row that were refused or cut.
    pub once_more: u32,
    pub review_rounds: u32,
    pub merge_rounds: u32,
    /// A person let it start, or it was granted before: it goes on through its retries.
    pub started: bool,
    /// A person stopped its agent, and why it waits: in every mode it starts again by a person's word only.
    #[serde(default)]
    pub withheld: Option<String>,
    /// Claims since the last sign of progress.
    #[serde(default)]
    pub claims: u32,
    /// Work that was handed in and whose checks have no verdict yet: checked again, not done again.
    #[serde(default)]
    pub submitted: Option<Oid>,
    /// How its checks failed last, and how often so in a row.
    #[serde(default)]
    pub same_failure: Option<SameFailure>,
    /// What its attempts have cost so far.
    pub usage: Usage,
    /// By which the agent program can go on where it was; none: a fresh session.
    pub session: Option<String>,
    /// Why the agent program brought no result last.
    pub failure: Option<Failure>,
    /// Why its merge was put off, until it succeeds.
    pub put_off: Option<String>,
    /// How often its agents tried what is not theirs to do, and the last time.
    pub oversteps: u32,
    /// The first so many of them have been seen by a person.
    #[serde(default)]
    pub oversteps_seen: u32,
    pub overstep: Option<Audit>,
    /// Failures of executors in a row (worktree, git).
    #[serde(rename = "hand_failures")]
    pub effect_failures: u32,
    pub waived: BTreeSet<Gate>,
    /// How often its agents said that it is complete without having changed anything.
    #[serde(default)]
    pub empties: u32,
    /// The tip of its branch that was handed in last: what comes after it has not been merged.
    #[serde(default)]
    pub handed_in: Option<Oid>,
    /// Commits of it that are on trunk already, while more of its work goes there.
    #[serde(default)]
    pub landed_before: Vec<Oid>,
    /// Where the branch started, once its worktree was made.
    pub base: Option<Oid>,
    /// A worktree may exist: from the claim on, since the executor that makes it may die before its
    /// report, until an executor has proven it gone.
    pub worktree: bool,
    /// What was given up with the worktree and is on no trunk: it comes back when the task does.
    #[serde(default)]
    pub left: Option<Left>,
    /// The record by which it was last cancelled.
    #[serde(default)]
    pub cancelled: u64,
    /// Uncommitted work of the last attempt, kept under a ref.
    pub wip: Option<Oid>,
    /// A merged commit that was found green; not verified again.
    pub verified: Option<Oid>,
    /// What the next attempt should know: output of the last red check, crash, note.
    pub last_failure: Option<String>,
    pub last_agent: Option<AgentId>,
    /// How its last attempt ended, until work is submitted: the next one is told.
    pub last_end: Option<Ended>,
    /// Why the worktree of the closed task stays.
    pub kept: Option<String>,
    /// What it was when the plan was closed over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<SavedStage>,
    /// Crashes of its agents since the task was last handed to one, however slowly they came.
    pub crashes: u32,
    /// How often its context window was full.
    pub overflows: u32,
    /// What its next iteration is told about the last one.
    pub nudge: Option<Nudge>,
    /// The profile it was handed to; before what the plan says.
    pub assigned: Option<String>,
    /// Profiles that were not allowed to do what it needs.
    pub denied_under: BTreeSet<String>,
    /// The profile of its last attempt: a session belongs to the program that began it.
    pub worked_under: Option<String>,
    /// Its allowance was used up: first in the queue when it is back.
    pub waits_for_quota: Option<String>,
    /// Goes before all others, once.
    pub first: bool,
    pub spent: Spent,
    /// What its present budget does not count.
    pub spent_before: Spent,
    /// Words of people for whoever works on it, oldest first (bounded).
    pub messages: VecDeque<Message>,
    /// The parts it was split into.
    pub parts: Vec<TaskId>,
    /// The task it is a part of.
    pub parent: Option<TaskId>,
    pub audit: VecDeque<Audit>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub kind: RunKind,
    pub task: TaskId,
    pub agent: Option<AgentId>,
    pub attempt: u32,
    pub nonce: String,
    pub claimed_at: Timestamp,
    pub spawned: bool,
    /// The profile it was claimed under; none: the one of the task or of the swarm.
    pub profile: Option<String>,
    pub usage: Usage,
    /// Nothing is expected of it any more but its stop.
    pub ended: bool,
    /// It is the so-manieth of the ledger.
    pub nth: u64,
    /// Since when it has been at work; none while it is held at its boundary.
    pub busy_since: Option<Timestamp>,
    /// It was told once that it goes round in circles or is silent.
    pub nudged: bool,
    /// Lines of the history that it gave rise to: each is taken in once (bounded).
    pub noted: BTreeSet<String>,
    /// It has ended, and what is left of it could not be stopped yet. Tried again until it works.
    pub stuck: Option<Stuck>,
    /// The group that a probe asks for.
    pub group: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    pub since: Timestamp,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAnswer {
    pub id: CommandId,
    pub seq: u64,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    pub at: Timestamp,
    pub event: String,
    pub details: String,
}

impl Run {
    /// A learning as it is remembered among what the run gave rise to.
    pub(crate) fn learning(signal: &str, text: &str) -> String {
        format!("{signal}: {text}")
    }
}

impl State {
    /// The answer that a command with this id was given before.
    pub fn answer_of(&self, id: &CommandId) -> Option<&PastAnswer> {
        self.answers.iter().rev().find(|past| past.id == *id)
    }

    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.get(id)
    }

    /// Whether ready tasks start by themselves.
    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or(self.policy.mode)
    }

    /// Whether the task starts only when a person says so.
    pub fn needs_start(&self, task: &Task) -> bool {
        let waits = task.withheld.is_some() || (self.mode() == Mode::SemiAuto && !task.started);
        waits && matches!(task.stage, Stage::Pending { .. })
    }

    /// Whether any process may be at work for the task. A probe is nobody's: it has no worktree.
    pub fn has_run(&self, id: &TaskId) -> bool {
        self.runs.values().any(|run| run.task == *id && run.kind != RunKind::Probe)
    }

    /// Whether anything is done that can be looked up on trunk.
    pub fn has_provable(&self) -> bool {
        self.index.provable().next().is_some()
    }

    /// Whether what is done is known to be so, or nobody is there to look it up.
    pub(crate) fn proves_nothing_now(&self) -> bool {
        let open = self.plan.as_ref().is_some_and(|plan| !plan.closed);
        !open || !self.running || self.proven.is_some() || self.ops.running.is_some() || !self.has_provable()
    }

    /// A run that still counts: claimed, not ended.
    pub fn current_run(&self, run: &RunId) -> Option<&Run> {
        self.runs.get(run).filter(|r| !r.ended)
    }

    pub fn phase(&self, id: u32) -> Option<&Phase> {
        self.plan.as_ref()?.phases.iter().find(|p| p.id == id)
    }

    /// All tasks in the order of the plan.
    pub fn tasks_in_order(&self) -> impl Iterator<Item = &Task> {
        self.plan
            .iter()
            .flat_map(|plan| plan.phases.iter())
            .flat_map(|phase| phase.tasks.iter())
            .filter_map(|id| self.tasks.get(id))
    }

    /// Slots in use: by work runs until their processes are proven gone, and by agents that begin again.
    pub fn slots_taken(&self) -> u32 {
        let runs = self.runs.values().filter(|run| run.kind == RunKind::Work).count();
        // What else runs for the task, a trial of its checks for example, takes no slot and keeps none.
        let works =
            |id: &&TaskId| self.runs.values().any(|run| run.task == **id && run.kind == RunKind::Work);
        let between = self.index.restarting().filter(|id| !works(id)).count();
        (runs + between) as u32
    }
}
