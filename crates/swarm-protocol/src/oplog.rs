//! What people see of operations, checkpoints and hooks.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::channel::RunKind;
use crate::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use crate::operation::{Checkpoint, FactChange, HookOutcome, Plan, Says};
use crate::time::Timestamp;

/// An operation, as `swarm op log` and `swarm op show` have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OperationView {
    pub id: CommandId,
    pub seq: u64,
    pub at: Timestamp,
    pub by: String,
    pub kind: String,
    pub subject: Option<String>,
    pub text: String,
    pub state: OperationState,
    /// The step it is at, while it is under way, and why it does not get on.
    pub step: Option<String>,
    pub undoes: Option<CommandId>,
    pub undone_by: Option<CommandId>,
    /// The checkpoint with the state before it.
    pub checkpoint: Option<String>,
    pub facts: Vec<FactChange>,
    /// The same in lines for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// What became of commits, tasks and work; where it moved git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<Did>,
    /// Whether `swarm undo ID` would be accepted now, and if not, why.
    pub can_be_undone: bool,
    pub why_not: Option<String>,
    pub hint: Option<String>,
}

/// A subject may be as long as an agent makes it, and every operation of a swarm is kept.
const LINE_CHARS: usize = 240;

/// What an operation that moves git does, as its preview says it, and what was made for it. As much as people read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Did {
    pub says: Says,
    /// Commits on trunk that were made for it: reverts, and what was brought back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Oid>,
}

impl Did {
    /// At most so many lines of each kind.
    pub fn of(says: &Says, made: &[Oid], most: usize) -> Self {
        let cut = |line: &String| line.chars().take(LINE_CHARS).collect();
        let first = |lines: &[String]| lines.iter().take(most).map(cut).collect();
        let says = Says {
            tasks: first(&says.tasks),
            commits: first(&says.commits),
            work: first(&says.work),
            foreign: first(&says.foreign),
            stays: first(&says.stays),
        };
        Self { says, made: made.iter().take(most).cloned().collect() }
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    UnderWay,
    /// A proposal that a person has to accept.
    Waits,
    Done,
    Undone,
    Failed,
}

/// What a command would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewView {
    pub kind: String,
    /// The answer that it would give, or what it goes back to; may be empty where it has steps.
    pub text: String,
    /// What happens to commits, tasks and work, in lines for people.
    pub says: Says,
    /// Facts that would change.
    pub facts: Vec<FactChange>,
    /// The checkpoint that would be made before it.
    pub checkpoint: Option<String>,
    /// To be given with the command, so that it does what was seen or nothing.
    pub expect: Option<String>,
    /// The whole plan, where git moves.
    pub plan: Option<Plan>,
    /// Runs whose processes would end. All others go on.
    pub stops: Vec<StopView>,
    /// Nothing at all would change.
    #[serde(default)]
    pub nothing: bool,
}

impl PreviewView {
    /// Of a command that asks nothing of the ledger: one line for each thing it would do; none: nothing.
    pub fn of_lines(kind: impl Into<String>, lines: &[String]) -> Self {
        Self {
            kind: kind.into(),
            text: lines.join("\n"),
            says: Says::default(),
            facts: vec![],
            checkpoint: None,
            expect: None,
            plan: None,
            stops: vec![],
            nothing: lines.is_empty(),
        }
    }
}

/// A run that a command would end, and where its work would be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StopView {
    pub run: RunId,
    pub task: TaskId,
    pub kind: RunKind,
    /// Whose it is; none: a verification, a review, a probe.
    pub agent: Option<AgentId>,
    /// The ref that would keep what is taken out of the worktree or not committed there; none: there is nothing.
    pub saved_to: Option<String>,
    /// Files that differ there, the first hundred.
    pub files: Vec<String>,
    /// How many they are in all.
    pub files_in_all: usize,
}

/// A checkpoint in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CheckpointView {
    #[serde(flatten)]
    pub checkpoint: Checkpoint,
    /// Tasks that were merged since and are on trunk, each once, as far as the ledger's memory goes.
    pub merged_since: Vec<TaskId>,
    /// Why it cannot be deleted.
    pub needed: Option<String>,
}

/// A hook that waits, runs or ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookView {
    pub n: u64,
    pub hook: String,
    pub subject: Option<String>,
    pub running: bool,
    pub outcome: Option<HookOutcome>,
    pub output: String,
}
