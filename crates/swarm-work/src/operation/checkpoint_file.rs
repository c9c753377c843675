//! `.swarm/checkpoints/NAME.json`: a checkpoint for people and other tools. The swarm itself goes by its
//! ledger and by refs; a file that is gone or damaged takes nothing away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use swarm_protocol::ids::{AgentId, Oid, TaskId};

use super::checkpoint::check_name;
use swarm_git::{GitError, remove_marker, write_marker};

/// The keys are those of the file format that users know; the later ones are ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointFile {
    pub name: String,
    /// RFC 3339.
    pub created_at: String,
    pub git_commit: Option<Oid>,
    /// Older tools call a task an idea.
    #[serde(alias = "ideaStates")]
    pub task_states: BTreeMap<TaskId, String>,
    pub state_snapshot: Value,
    #[serde(default)]
    pub agent_states: Vec<AgentAt>,
    /// `auto` or `manual`.
    #[serde(rename = "type")]
    pub kind: String,
    pub trigger: String,
    /// The ledger position that it speaks of.
    #[serde(default)]
    pub seq: u64,
    /// The last record when it was made: a ledger in which this one is not has lost something since.
    #[serde(default)]
    pub ledger_head: Option<LedgerHead>,
    #[serde(default)]
    pub tips: BTreeMap<TaskId, Oid>,
    /// Uncommitted work, each a commit under `refs/swarm/checkpoints/NAME/dirty/TASK`.
    #[serde(default)]
    pub dirty: BTreeMap<TaskId, Oid>,
    #[serde(default)]
    pub moving: Vec<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerHead {
    pub seq: u64,
    pub hash: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentAt {
    pub id: AgentId,
    #[serde(alias = "ideaId")]
    pub task_id: Option<TaskId>,
    #[serde(default)]
    pub iteration: u32,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadFile {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} is not a checkpoint: {why}", path.display())]
    NotOne { path: PathBuf, why: String },
    #[error("{} was changed after it was written: its checksum does not fit", path.display())]
    Changed { path: PathBuf },
}

fn path_of(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.json"))
}

/// Writes the file below `dir` (`.swarm/checkpoints`), whole or not at all.
pub fn write(dir: &Path, file: &CheckpointFile) -> Result<PathBuf, GitError> {
    let path = path_of(dir, &file.name);
    check_name(&file.name).map_err(|why| GitError::io("write", &path)(std::io::Error::other(why)))?;
    let mut value = serde_json::to_value(file)
        .map_err(|error| GitError::io("write", &path)(std::io::Error::other(error)))?;
    let sum = checksum(&value);
    value["checksum"] = Value::String(sum);
    write_marker(&path, &value)?;
    Ok(path)
}

/// Reads one. A file of another tool has no checksum; one that has it must fit.
pub fn read(dir: &Path, name: &str) -> Result<CheckpointFile, BadFile> {
    let path = path_of(dir, name);
    let not_one = |why: String| BadFile::NotOne { path: path.clone(), why };
    let bytes = std::fs::read(&path).map_err(|source| BadFile::Unreadable { path: path.clone(), source })?;
    let mut value: Value = serde_json::from_slice(&bytes).map_err(|error| not_one(error.to_string()))?;
    let sum = value.as_object_mut().and_then(|keys| keys.remove("checksum"));
    if sum.is_some_and(|sum| sum.as_str() != Some(&checksum(&value))) {
        return Err(BadFile::Changed { path });
    }
    serde_json::from_value(value).map_err(|error| not_one(error.to_string()))
}

pub fn remove(dir: &Path, name: &str) -> Result<(), GitError> {
    remove_marker(&path_of(dir, name))
}

/// Over the document without its checksum, keys in order, no spaces.
fn checksum(value: &Value) -> String {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
