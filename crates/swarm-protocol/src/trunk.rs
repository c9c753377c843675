//! What stands on trunk, and for each line the commit and the task that brought it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{Oid, TaskId};
use crate::time::Timestamp;

/// Longer ones no file system of ours has.
const PATH_MAX: usize = 4096;

/// A place on trunk that somebody looks at: made of a path that cannot lead out of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrunkAsk {
    path: String,
    /// The first line, from 1.
    pub from: u64,
}

impl TrunkAsk {
    /// An empty path is the top of the repository. Says what is wrong with any other.
    pub fn new(path: &str, from: u64) -> Result<Self, String> {
        let wrong = |what: &str| Err(format!("{path:?} is not a path of the repository: {what}"));
        if path.len() > PATH_MAX {
            return Err(format!("A path has at most {PATH_MAX} bytes"));
        }
        if path.contains('\0') {
            return wrong("no name has a zero byte");
        }
        if !path.is_empty() && path.split('/').any(|name| matches!(name, "" | "." | "..")) {
            return wrong("it is written from the top, like `src/main.rs`");
        }
        Ok(Self { path: path.to_owned(), from: from.max(1) })
    }

    pub fn path(&self) -> &str {
        &self.path
    }
}

/// A folder of trunk, or some lines of a file with what brought each of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrunkView {
    pub trunk: String,
    /// Where trunk was when it was looked at.
    pub commit: Oid,
    /// Empty: the top of the repository.
    pub path: String,
    /// What the folder holds; none: it is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<TrunkEntry>>,
    /// The file; none: it is a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<TrunkFile>,
    /// The folder holds more than is listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrunkEntry {
    pub name: String,
    pub kind: TrunkKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrunkKind {
    Folder,
    File,
    Link,
    /// Another repository.
    Submodule,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrunkFile {
    /// Lines of the whole file.
    pub lines_total: u64,
    /// One after the other, at most five hundred.
    pub lines: Vec<TrunkLine>,
    /// What brought them.
    pub causes: Vec<CauseView>,
    /// Why no lines are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unshown: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrunkLine {
    pub n: u64,
    /// At most two thousand characters; bytes that are no text are replaced.
    pub text: String,
    /// Which of the causes.
    pub cause: usize,
}

/// A commit, and for what it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CauseView {
    pub commit: Oid,
    pub author: String,
    pub at: Timestamp,
    pub summary: String,
    /// The task that it is the work of, as the ledger has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The task that the commit names and the ledger does not know of: of an earlier plan, perhaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says_task: Option<String>,
    /// The agent that the commit names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says_agent: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_the_repository() {
        for good in ["", "a", "src/main.rs", "a b/ü.txt", "-x", ":(top)x", "...", "a\"b"] {
            assert_eq!(TrunkAsk::new(good, 1).map(|ask| ask.path().to_owned()), Ok(good.to_owned()));
        }
        for bad in ["/etc/passwd", "..", "a/../b", "a//b", "a/", ".", "./a", "a\0b", &"x".repeat(4097)] {
            assert!(TrunkAsk::new(bad, 1).is_err(), "{bad:?}");
        }
    }
}
