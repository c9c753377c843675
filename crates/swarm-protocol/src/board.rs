//! What a screen shows at once: everything of the swarm that a person looks at, typed, in one view.
//!
//! The other views tell their story in sentences for `--json` and the command line. A screen needs the numbers and
//! names behind the sentences, and it needs them of one and the same record.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::{AgentNews, ApiError};
use crate::command::Command;
use crate::ids::{Oid, TaskId};
use crate::oplog::OperationView;
use crate::outcome::PauseReason;
use crate::time::Timestamp;
use crate::view::{AgentView, AttentionView, ConflictsWith, ReviewView, StatusView, TaskRow};

/// Everything on the main screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BoardView {
    /// The coordinator's clock when this was made: ages are counted from here.
    pub now: Timestamp,
    pub status: StatusView,
    /// All tasks in the order of the plan.
    pub rows: Vec<BoardRow>,
    pub agents: Vec<BoardAgent>,
    pub pauses: Vec<PauseView>,
    /// What has waited longest stands first.
    pub attention: Vec<AttentionEntry>,
    /// Newest first.
    pub checkpoints: Vec<CheckpointRow>,
    /// The newest fifty, newest first; one that is under way stands before them.
    pub operations: Vec<OperationView>,
    pub reviews: Vec<ReviewView>,
}

/// To which group of tasks a task belongs, for its sign and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// A person has to do something.
    NeedsYou,
    /// An agent has it.
    Works,
    /// On its way to trunk.
    Merges,
    /// Somebody else than the person judges it.
    InReview,
    /// For a task, a moment, a quota.
    Waits,
    /// It could start.
    Ready,
    /// On trunk, with proof, or accepted as it is.
    Done,
    /// Deferred or cancelled.
    Aside,
}

/// A task in the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BoardRow {
    #[serde(flatten)]
    pub row: TaskRow,
    pub group: Group,
    /// One or two words: `working`, `asks you`, `waits`.
    pub word: String,
    /// What the word leaves open: `for 2.3, 2.5`, `round 2 of 3`, `a094ec7 on main`.
    pub detail: String,
    pub tags: Vec<String>,
    pub priority: u8,
    /// Open tasks that wait for it directly.
    pub unblocks: u64,
    /// The commit on trunk that proves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Oid>,
    /// It starts only when a person says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_start: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts_with: Vec<ConflictsWith>,
}

/// An agent with everything that its line and its dialogs say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BoardAgent {
    #[serde(flatten)]
    pub agent: AgentView,
    /// Iterations that one attempt may take.
    pub iterations_max: u32,
    pub attempt: u32,
    /// Empty where none is configured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// The branch its worktree has checked out.
    pub branch: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<AgentNews>,
}

/// Why nothing new starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PauseView {
    pub reason: PauseReason,
    pub since: Timestamp,
    pub why: String,
    /// The command that ends it, as a person would type it.
    pub ended_by: String,
}

/// What an entry of the attention list is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttentionKind {
    Question,
    Blocked,
    Failed,
    Review,
    Start,
    Checkout,
    Gone,
    Pause,
    Quota,
    Agent,
    Proposal,
    Seen,
    Other,
}

/// Something that waits for a person, with the ways on as commands that can be sent as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AttentionEntry {
    #[serde(flatten)]
    pub entry: AttentionView,
    /// The same as long as the entry is about the same thing.
    pub id: String,
    pub kind: AttentionKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Ways on that would be accepted now, the likeliest first.
    pub choices: Vec<AttentionChoice>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AttentionChoice {
    /// `unblock it`
    pub label: String,
    pub command: Command,
    /// The command lacks a text that only the person knows; this says which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_for: Option<String>,
}

/// A checkpoint in the rollback menu.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CheckpointRow {
    pub name: String,
    pub at: Timestamp,
    pub seq: u64,
    pub auto: bool,
    pub trigger: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<Oid>,
    /// Tasks merged since, and their commits on trunk.
    pub tasks_since: u64,
    pub commits_since: u64,
}

/// What a person could ask for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Start,
    Stop,
    Kill,
    Redirect,
    Block,
    Unblock,
    Edit,
    Message,
    Defer,
    Cancel,
    RollbackTask,
    Review,
    Pause,
    Resume,
    Mode,
    Checkpoint,
    RollbackSession,
    Undo,
    Redo,
}

/// Whether a verb would be accepted now, and if not, why and what would help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AllowedView {
    pub verb: Verb,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<ApiError>,
}

/// A ready task that an agent could take up instead of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Choice {
    pub task: TaskId,
    pub title: String,
    pub phase: u32,
    pub tags: Vec<String>,
    /// Open tasks that wait for it, also through others.
    pub unblocks: Vec<TaskId>,
    /// Why it stands where it stands.
    pub why: String,
}
