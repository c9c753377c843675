//! The plan as people and tools write it: goal, phases, tasks, execution profile.

mod file;

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::TaskId;

pub use file::{PhaseFile, PlanFile, TaskFile};

/// Members of a plan file that we do not know, kept and written out again.
pub type Extra = BTreeMap<String, Value>;

/// Status of a task, in our words; the words of other tools are read too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[serde(alias = "todo", alias = "open")]
    Pending,
    #[serde(alias = "doing", alias = "in_progress")]
    Active,
    Review,
    Merging,
    #[serde(alias = "completed", alias = "complete")]
    Done,
    #[serde(alias = "stuck")]
    Blocked,
    Failed,
    Timeout,
    #[serde(alias = "later")]
    Deferred,
    #[serde(alias = "closed", alias = "canceled")]
    Cancelled,
    /// It was done, and its work is not on trunk any more.
    Gone,
}

impl Status {
    pub const ALL: [Self; 11] = [
        Self::Pending,
        Self::Active,
        Self::Review,
        Self::Merging,
        Self::Done,
        Self::Blocked,
        Self::Failed,
        Self::Timeout,
        Self::Deferred,
        Self::Cancelled,
        Self::Gone,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Review => "review",
            Self::Merging => "merging",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Deferred => "deferred",
            Self::Cancelled => "cancelled",
            Self::Gone => "gone",
        }
    }

    /// What a sentence says of the task: `Task 1.2 is in review`.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Pending => "is pending",
            Self::Active => "is active",
            Self::Review => "is in review",
            Self::Merging => "is being merged",
            Self::Done => "is done",
            Self::Blocked => "is blocked",
            Self::Failed => "has failed",
            Self::Timeout => "has run out of time",
            Self::Deferred => "is deferred",
            Self::Cancelled => "is cancelled",
            Self::Gone => "has gone from trunk",
        }
    }
}

/// Why a blocked task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    Human,
    Sandbox,
    Review,
    Conflict,
    Retries,
    Setup,
    Children,
    /// Too large for one context window: to be split.
    Overflow,
    /// It has spent what it may spend.
    Budget,
    /// Its agent says that it is complete, and nothing has changed.
    Empty,
    /// Others have reserved its files.
    Reserved,
}

impl BlockKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Sandbox => "sandbox",
            Self::Review => "review",
            Self::Conflict => "conflict",
            Self::Retries => "retries",
            Self::Setup => "setup",
            Self::Children => "children",
            Self::Overflow => "overflow",
            Self::Budget => "budget",
            Self::Empty => "empty",
            Self::Reserved => "reserved",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Small,
    Medium,
    Large,
}

impl Size {
    pub fn word(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

/// How many tasks of this plan may run at once, and whether that may still be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExecutionProfile {
    /// Without it one task runs at a time, whatever else is configured.
    pub parallelization_enabled: bool,
    /// Tasks at once when parallel, 1 to 64.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 64)))]
    pub max_concurrent_tasks: u32,
    pub council_parallel: bool,
    /// Once true, no save may carry a profile until the plan is reset.
    pub locked: bool,
}

impl Default for ExecutionProfile {
    fn default() -> Self {
        Self {
            parallelization_enabled: false,
            max_concurrent_tasks: 1,
            council_parallel: false,
            locked: false,
        }
    }
}

impl ExecutionProfile {
    /// Tasks that may run at once: fails closed to one.
    pub fn slots(self) -> u32 {
        if self.parallelization_enabled { self.max_concurrent_tasks.clamp(1, 64) } else { 1 }
    }
}

/// What a task asks for. This is the form inside the ledger: unknown members stand apart in `extra`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskSpec {
    pub id: TaskId,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Globs of files that nobody else changes while the task is worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserve: Vec<String>,
    /// Globs of files that others may share, and nobody may reserve meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// 0 is the most urgent, 4 the least; 2 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// It may be done without a change: a look at something, a run of something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_empty: bool,
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

impl TaskSpec {
    /// A task with a title and nothing else.
    pub fn new(id: TaskId, title: impl Into<String>) -> Self {
        Self {
            id,
            title: title.into(),
            description: String::new(),
            depends: vec![],
            acceptance: vec![],
            files: vec![],
            reserve: vec![],
            share: vec![],
            tags: vec![],
            size: None,
            priority: None,
            profile: None,
            isolation: None,
            review: None,
            allow_empty: false,
            extra: Extra::new(),
        }
    }
}

/// A change to some members of a task; what is absent stays, `null` takes away.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskPatch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends: Option<Vec<TaskId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub size: Option<Option<Size>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub priority: Option<Option<u8>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub profile: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub isolation: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub review: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_empty: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Extra>,
}

/// A member that is there, also when it is `null`.
fn given<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
    T::deserialize(d).map(Some)
}

impl TaskPatch {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A phase without its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseHead {
    pub id: u32,
    pub name: String,
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}
