//! Everything the swarm knows, made of its events and of nothing else.

pub mod flow;
mod index;
mod new_task;
pub mod operations;
pub mod proposals;
mod recovery;
pub mod saved;
pub mod schedule;
mod task;
mod text;
mod trunk;
pub(crate) mod unseen;

pub use recovery::{
    Agent, Bases, Closed, Degraded, Landed, Message, NotRevived, Nudge, QuotaGate, SameFailure, Spent,
    Suspect,
};

pub(crate) use task::provable;
pub use task::{Run, Stuck, Task};

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::RunKind;
use swarm_protocol::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use swarm_protocol::outcome::{Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, Extra};
use swarm_protocol::policy::Policy;
use swarm_protocol::reservation::Reservation;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use index::Index;

/// The format of a serialised `State`; a snapshot of another one is not read but replayed.
pub const STATE_FORMAT: u32 = 8;

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
    /// Who has which files for themselves, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reservations: BTreeMap<u64, Reservation>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reservations_ever: u64,
    /// The conversation about this plan of the agent that reviews, by its profile.
    #[serde(default)]
    pub review_sessions: BTreeMap<String, String>,
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
    /// What programs want and people have to agree to.
    #[serde(default, skip_serializing_if = "proposals::Proposals::is_empty")]
    pub proposals: proposals::Proposals,
    /// What is under way, as spans tell it.
    #[serde(default, skip_serializing_if = "flow::Flow::is_empty")]
    pub flow: flow::Flow,
    /// Operations, checkpoints, hooks.
    pub ops: operations::Operations,
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
    /// The worktrees were there: the commands that prepare them failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commands: bool,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
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

    /// Submitted work that nobody is reviewing now, oldest first.
    pub fn waiting_reviews(&self) -> impl Iterator<Item = &TaskId> {
        let nobody = |id: &&TaskId| self.task(id).is_some_and(|t| t.stage.judging_run().is_none());
        self.index.reviews().filter(nobody)
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

    /// What the task depends on and is not done.
    pub fn unmet<'a>(&'a self, task: &'a Task) -> Vec<&'a TaskId> {
        let done = |id: &&TaskId| self.task(id).is_some_and(|t| matches!(t.stage, Stage::Done { .. }));
        task.spec.depends.iter().filter(|id| !done(id)).collect()
    }
}
