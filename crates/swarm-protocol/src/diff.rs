//! What the work of a task changes: all of it, of one submission, or since one.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Oid, TaskId};
use crate::patch::{ChangedFile, Hunk};
use crate::time::Timestamp;

/// Which part of the work of a task is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffAsk {
    pub task: TaskId,
    /// As it was submitted the nth time; none: as it is now.
    pub round: Option<usize>,
    /// Only what changed since it was submitted that time.
    pub since: Option<usize>,
    /// Only this file, with its lines.
    pub file: Option<String>,
}

impl DiffAsk {
    /// All of its work as it is now.
    pub fn of(task: TaskId) -> Self {
        Self { task, round: None, since: None, file: None }
    }
}

/// Work that was submitted once, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RoundView {
    pub round: usize,
    pub commit: Oid,
    pub at: Timestamp,
    /// `approved` or `needs changes`; none: there is none yet.
    pub verdict: Option<String>,
    pub notes: Vec<String>,
}

/// What the work of a task changes, as a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DiffView {
    pub task: TaskId,
    pub from: Oid,
    pub to: Oid,
    /// The submission that it ends with, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<usize>,
    /// The submission since which it is, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<usize>,
    /// Trunk was merged since, and what came with it could not be told apart from the work of the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
    /// All submissions, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundView>,
    /// The files that are changed, at most a thousand.
    #[serde(default)]
    pub files: Vec<ChangedFile>,
    /// Its text, at most so much as fits; bytes that are no text are replaced.
    pub patch: String,
    /// There is more than `patch` and `files` have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The lines of the file that was asked for, at most five thousand, with the words marked that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<Hunk>>,
}

impl DiffView {
    pub fn new(task: TaskId, from: Oid, to: Oid) -> Self {
        Self {
            task,
            from,
            to,
            round: None,
            since: None,
            mixed: false,
            rounds: Vec::new(),
            files: Vec::new(),
            patch: String::new(),
            cut: false,
            hunks: None,
        }
    }
}
