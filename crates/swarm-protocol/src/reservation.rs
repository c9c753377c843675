//! Files that somebody has for themselves for a while.

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::time::Timestamp;

/// What becomes of work in files that somebody else has reserved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// It waits until the files are free.
    #[default]
    Wait,
    /// The task is blocked, and a person decides.
    Deny,
    /// It goes on, and is told.
    Warn,
}

impl Overlap {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a task is worked on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// In a worktree of its own.
    #[default]
    Worktree,
    /// In one tree with all other tasks of this kind. Each changes the files that it has reserved.
    Reservation,
}

impl Isolation {
    pub const ALL: [Self; 2] = [Self::Worktree, Self::Reservation];

    pub fn word(self) -> &'static str {
        match self {
            Self::Worktree => "worktree",
            Self::Reservation => "reservation",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isolation| isolation.word() == word)
    }
}

/// Who has reserved which files: all of them, or the reservation was not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reservation {
    /// The task that is worked on under it; none: a person's or a tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Who asked for it, where it was not a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Globs of files that nobody else changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Globs of files that others may share, and nobody may reserve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when it stands, or since the last agent that worked under it was gone.
    pub since: Timestamp,
    /// Seconds that it lasts from then on.
    pub secs: u64,
    /// Others that stood in its way and were passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<u64>,
}

impl Reservation {
    /// The moment from which it does not count any more, if nobody works under it.
    pub fn until(&self) -> Timestamp {
        self.since.plus_secs(self.secs)
    }

    /// Who has it, in words: `task 1.2`, `person:cli`.
    pub fn holder(&self) -> String {
        match (&self.task, &self.by) {
            (Some(task), _) => format!("task {task}"),
            (None, Some(by)) => by.clone(),
            (None, None) => "somebody".into(),
        }
    }
}

/// Why a text cannot stand for files of the repository.
pub fn check_glob(glob: &str) -> Result<(), String> {
    let bad = |why: &str| Err(format!("{glob:?} {why}"));
    if glob.trim().is_empty() {
        return Err("an empty name means no file".into());
    }
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return bad("leaves the repository: write it from the top of the repository on");
    }
    if glob.starts_with(['!', '~']) {
        return bad(
            "excludes files or starts in a home folder: write a path from the root of the repository",
        );
    }
    let count = |c: char| glob.matches(c).count();
    if count('[') != count(']') || count('{') != count('}') {
        return bad("opens a bracket and does not close it");
    }
    if glob.chars().any(char::is_control) {
        return bad("contains a control character");
    }
    Ok(())
}
