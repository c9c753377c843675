//! What is in a task's worktree, for a person who wants it merged.

use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use super::marker_of;
use crate::rescue::uncommitted;
use swarm_git::{Git, GitError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    pub base: Oid,
    pub tip: Oid,
    pub tree: Oid,
    /// Files that are not committed, and so would not be merged.
    pub uncommitted: usize,
}

/// `None` when the swarm has made no worktree for this task, or its branch is gone.
pub async fn submission(git: &Git, dir: &Path, task: &TaskId) -> Result<Option<Submission>, GitError> {
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let path = dir.join(task.as_str());
    let Some(marker) = marker_of(git, task, &path)? else { return Ok(None) };
    let Some(tip) = git.ref_value(&format!("refs/heads/{}", task.branch())).await? else { return Ok(None) };
    let uncommitted = if path.is_dir() { uncommitted(git, &path, task, &tip).await? } else { 0 };
    Ok(Some(Submission { base: marker.base, tree: git.tree_of(&tip).await?, tip, uncommitted }))
}
