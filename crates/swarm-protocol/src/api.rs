//! What goes over the coordinator's socket besides frames: the bodies of the API.
//!
//! Views travel as they are printed by `--json`, wrapped in the ledger position they were read at.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::{Actor, Answer, Command};
use crate::event::Event;
use crate::failure::Usage;
use crate::ids::{AgentId, CommandId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::view::AgentView;

/// The version in the path of every route.
pub const API_VERSION: u32 = 1;

/// A command as a client sends it. Who asks is decided by the coordinator; `by` may only say through
/// which front end a person came (`person:tui`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandRequest {
    /// Chosen by the client, new for every wish. Sent again after a lost answer it gets the old answer.
    pub id: CommandId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    pub command: Command,
}

/// How far a command has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Delivery {
    /// It has arrived and is not decided yet.
    Queued,
    /// It is done, and the disk has it.
    Landed { answer: Answer },
    /// Nothing was changed. Known until the coordinator ends; a refused command may be sent again.
    Refused { error: ApiError },
    /// Never heard of it, or too long ago: the last 1,000 are remembered.
    Unknown,
}

/// The one shape of every error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ErrorBody {
    pub error: ApiError,
}

/// What could not be done, and what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ApiError {
    /// For programs: the kind of refusal, or one of the kinds that `docs/reference/api.md` lists.
    pub kind: String,
    /// For people, one sentence.
    pub message: String,
    /// A command or a sentence that helps.
    pub hint: String,
    /// The refusal itself, where the coordinator refused a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl ApiError {
    pub fn new(kind: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), hint: hint.into(), refusal: None }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self {
            refusal: Some(refusal.clone()),
            ..Self::new(refusal.kind(), refusal.message(), refusal.hint())
        }
    }
}

/// A view and the ledger position it was read at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seen<T> {
    pub seq: u64,
    pub view: T,
}

/// An agent that has a task, and the latest news of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentNow {
    #[serde(flatten)]
    pub agent: AgentView,
    /// None when its daemon has said nothing to this coordinator, and when the past is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<AgentNews>,
}

/// What an agent is at, for screens. Never enters the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgentNews {
    pub run: RunId,
    pub task: TaskId,
    /// None for runs without an agent (verify).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub iteration: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// The tool or step it said it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    /// Bytes that its journal has.
    pub journal_bytes: u64,
    /// When its daemon was last heard.
    pub heard: Timestamp,
}

/// Some records of the ledger, as they stand there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HistoryPage {
    /// The last record that was durable when this was read.
    pub seq: u64,
    pub records: Vec<serde_json::Value>,
    /// Where to go on; none when these were the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// What became of tasks since a record, and what was spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Since {
    /// The last record that was seen.
    pub from: u64,
    /// The last one that this takes in.
    pub seq: u64,
    /// Tasks whose status is another one than then, by their status now.
    pub tasks: BTreeMap<String, BTreeSet<TaskId>>,
    pub usage: Usage,
}

impl Since {
    /// Takes in the next record.
    pub fn note(&mut self, event: &Event) {
        if let (Some(task), Some(status)) = (event.task(), event.status()) {
            self.tasks.retain(|_, ids| {
                ids.remove(task);
                !ids.is_empty()
            });
            self.tasks.entry(status.word().to_owned()).or_default().insert(task.clone());
        }
        if let Event::Iteration { usage: Some(usage), .. }
        | Event::ReviewAnswered { usage: Some(usage), .. } = event
        {
            self.usage = self.usage.plus(*usage);
        }
    }
}

/// Some lines of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LogPage {
    pub run: RunId,
    pub lines: Vec<serde_json::Value>,
    /// The byte to go on from.
    pub cursor: u64,
    /// The end of what is there now was reached.
    pub end: bool,
}

/// What an agent program was given at the beginning of an iteration, secrets covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GivenPrompt {
    pub run: RunId,
    pub iteration: u32,
    pub at: Timestamp,
    pub text: String,
    /// It was longer than what is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Somebody is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pong {
    /// Version of the program that coordinates.
    pub swarm: String,
    pub api: u32,
    /// What the caller may do: `operator`, `agent` or `viewer`.
    pub role: String,
}
