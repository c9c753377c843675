//! What the swarm remembers of operations, checkpoints and hooks. One member of `State`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{Checkpoint, FactChange, HookOutcome, Plan, Request};
use swarm_protocol::oplog::Did;
use swarm_protocol::time::Timestamp;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// The one that moves git now.
    pub running: Option<Running>,
    /// Newest last (bounded), those of people and those of the swarm itself.
    pub log: VecDeque<Record>,
    pub checkpoints: BTreeMap<String, Checkpoint>,
    /// Checkpoints that are to be made, oldest first.
    pub due: VecDeque<Due>,
    /// The checkpoint that this session began with.
    pub session_start: Option<String>,
    /// Tasks done since the last periodic checkpoint.
    pub done_since: u32,
    /// Commits on trunk that the swarm made and that no done task names: reverts, picks, taken back work.
    pub made: BTreeSet<Oid>,
    /// Where each task's branch was at the last boundary: a killed iteration goes back to it.
    pub tips: BTreeMap<TaskId, Oid>,
    /// Worktrees that are to go back to where an iteration began.
    pub rewinds: BTreeMap<TaskId, Rewind>,
    /// Tasks that an agent was sent to, by task.
    pub redirects: BTreeMap<TaskId, Redirect>,
    /// Tasks that go before all others when work goes on: a pause or an operation stopped them.
    pub first: VecDeque<First>,
    /// Hooks that are to run or run, by number.
    pub hooks: BTreeMap<u64, HookRun>,
    pub hooks_ever: u64,
    /// The last hooks that ended (bounded).
    pub hooks_ended: VecDeque<HookRun>,
}

/// The trigger of a checkpoint that is made after every so many merges.
pub const PERIODIC: &str = "periodic";

/// The trigger of checkpoints that a person asked for: they go when a person deletes them, not by their age.
pub const BY_PERSON: &str = "person";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRun {
    pub n: u64,
    pub hook: String,
    /// The task (or the pause) that it is about.
    pub subject: Option<String>,
    /// The run that waits for it.
    pub run: Option<RunId>,
    pub variables: BTreeMap<String, String>,
    pub blocking: bool,
    /// The epoch of the coordinator that runs it.
    pub started: Option<u64>,
    pub outcome: Option<HookOutcome>,
    pub output: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    pub name: String,
    /// The ledger position it is about.
    pub seq: u64,
    pub at: Timestamp,
    pub full: bool,
    pub trigger: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewind {
    pub run: RunId,
    pub to: Option<Oid>,
    /// Tries that failed.
    pub failures: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Redirect {
    pub from: TaskId,
    pub agent: AgentId,
    pub same_worktree: bool,
}

/// Who goes first when work goes on, and with whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct First {
    pub task: TaskId,
    pub agent: Option<AgentId>,
}

/// An operation that moves git, on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Running {
    pub id: CommandId,
    pub by: String,
    pub kind: String,
    pub subject: Option<String>,
    pub request: Request,
    pub asked_at: Timestamp,
    /// The ledger position before it: what its own checkpoint speaks of.
    pub before: u64,
    pub step: Step,
    /// Why it does not get on.
    pub stuck: Option<String>,
    /// Hash of the preview that the person has seen.
    pub expect: Option<String>,
    /// Times that an agent was asked to resolve what conflicts in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub asked: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What an agent is asked about reverts that conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The first of the tasks that are taken back.
    pub task: TaskId,
    pub profile: String,
    pub paths: Vec<String>,
    /// Why its last answer was of no use.
    pub why: Option<String>,
}

impl Running {
    /// It is nothing but a checkpoint that a person asked for.
    pub fn makes_checkpoint(&self) -> bool {
        matches!(self.request, Request::Checkpoint { .. })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Agents are being stopped, the trunk comes free.
    Quiescing,
    Surveying,
    /// The intent stands; the state before it is being saved.
    Saving {
        plan: Plan,
    },
    Moving {
        plan: Plan,
        dirty: BTreeMap<TaskId, Oid>,
    },
    /// Its reverts conflict, and an agent is asked. Then it moves.
    Resolving {
        plan: Plan,
        dirty: BTreeMap<TaskId, Oid>,
        asked: Asked,
    },
}

impl Step {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Quiescing => "quiescing",
            Self::Surveying => "surveying",
            Self::Saving { .. } => "saving",
            Self::Moving { .. } => "moving",
            Self::Resolving { .. } => "resolving",
        }
    }
}

/// An operation that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: CommandId,
    pub seq: u64,
    pub at: Timestamp,
    pub by: String,
    pub kind: String,
    pub subject: Option<String>,
    pub text: String,
    /// None: they were too many, or are too old to be kept.
    pub facts: Option<Vec<FactChange>>,
    /// What it did with git, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<Did>,
    /// The state before it, where facts would be too many.
    pub checkpoint: Option<String>,
    pub undoes: Option<CommandId>,
    pub undone_by: Option<CommandId>,
    /// It was not possible; why and what helps.
    pub failed: Option<(String, String)>,
    /// Files in which it met later work (bounded).
    pub paths: Vec<String>,
    /// A person has seen that it failed.
    pub seen: bool,
    /// About what its facts take.
    pub bytes: usize,
}

impl Record {
    /// `task rollback 1.2`: as a person would say it.
    pub fn describe(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{} {subject}", self.kind),
            None => self.kind.clone(),
        }
    }

    pub fn by_person(&self) -> bool {
        self.by.starts_with("person:")
    }

    /// Whether there is anything to set back.
    pub fn can_be_undone(&self) -> bool {
        self.failed.is_none()
            && self.undone_by.is_none()
            && (self.checkpoint.is_some() || self.facts.as_ref().is_some_and(|facts| !facts.is_empty()))
    }

    /// Whether git moved, or moves when it is undone.
    pub fn moves_git(&self) -> bool {
        self.facts.is_none() || self.facts.iter().flatten().any(|c| c.fact.is_of_git())
    }
}

impl Operations {
    pub fn record(&self, id: &CommandId) -> Option<&Record> {
        self.log.iter().rev().find(|record| record.id == *id)
    }
}

/// About the bytes that the facts take in the ledger.
pub fn size(facts: &[FactChange]) -> usize {
    facts.iter().map(|change| serde_json::to_vec(change).map_or(0, |bytes| bytes.len())).sum()
}
