//! The proof that a worktree is ours, kept in the common git directory where no agent can write.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};

use super::moved::present_place;
use swarm_git::{Checkout, Git, GitError, lock_within, make_own_folder, read_marker, write_marker};

/// Making the worktree of a large repository takes minutes on a slow disk.
const OTHERS_LIMIT: Duration = Duration::from_secs(900);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeMarker {
    pub repo_id: String,
    pub task: TaskId,
    pub path: PathBuf,
    pub base: Oid,
    pub state: MarkerState,
    /// Name of git's record of it. An agent can make its record say anything, but not change its name.
    #[serde(default)]
    pub record: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkerState {
    Making,
    Ready,
}

fn markers_dir(git: &Git) -> PathBuf {
    git.swarm_dir().join("worktrees")
}

pub fn marker_path(git: &Git, task: &TaskId) -> PathBuf {
    markers_dir(git).join(format!("{task}.json"))
}

/// The marker of this task's worktree at this path, if it is this repository's.
pub fn marker_of(git: &Git, task: &TaskId, path: &Path) -> Result<Option<WorktreeMarker>, GitError> {
    let repo_id = git.repo_id()?;
    let found = read_at(git, &marker_path(git, task));
    Ok(found.filter(|marker| marker.repo_id == repo_id && marker.task == *task && marker.path == path))
}

/// A marker as it is true now, wherever the repository was when it was written.
fn read_at(git: &Git, file: &Path) -> Option<WorktreeMarker> {
    let marker: WorktreeMarker = read_marker(file)?;
    let path = present_place(git, &marker.path, marker.record.as_deref());
    Some(WorktreeMarker { path, ..marker })
}

/// Writes the marker unless it stands there like this.
pub(super) fn note_if_other(git: &Git, marker: &WorktreeMarker) -> Result<(), GitError> {
    let file = marker_path(git, &marker.task);
    if read_marker::<WorktreeMarker>(&file).as_ref() == Some(marker) {
        return Ok(());
    }
    write_marker(&file, marker)
}

/// Every marker there is.
pub fn all_markers(git: &Git) -> Vec<WorktreeMarker> {
    let entries = std::fs::read_dir(markers_dir(git)).into_iter().flatten().flatten();
    let files =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "json"));
    let mut found: Vec<WorktreeMarker> = files.filter_map(|path| read_at(git, &path)).collect();
    found.sort_by(|a, b| a.task.cmp(&b.task));
    found
}

/// Names of the records that belong to tasks: what they say about HEAD or place is an agent's word.
pub fn records_of_tasks(git: &Git) -> BTreeSet<String> {
    all_markers(git).into_iter().filter_map(|marker| marker.record).collect()
}

/// Git's records of the worktree at `path`: the one the marker names, or for want of a name those that say so
/// themselves and do not belong to another task.
pub fn records_at(git: &Git, path: &Path, marker: Option<&WorktreeMarker>) -> Vec<PathBuf> {
    if let Some(name) = marker.and_then(|marker| marker.record.as_ref()) {
        return Some(git.record_dir(name)).filter(|dir| dir.is_dir()).into_iter().collect();
    }
    let of_tasks = records_of_tasks(git);
    let says_so = git.linked_checkouts().into_iter().filter(|linked| linked.path == path);
    says_so.filter(|linked| !is_named(&of_tasks, &linked.git_dir)).map(|linked| linked.git_dir).collect()
}

/// The checkouts of people: the main one, and worktrees that neither an agent nor a verification can write.
pub fn checkouts_of_people(git: &Git) -> Vec<Checkout> {
    let mut not_theirs = records_of_tasks(git);
    not_theirs.extend(crate::merge_tree::record_name(git));
    not_theirs.extend(crate::shared_tree::record_name(git));
    git.checkouts().into_iter().filter(|one| one.is_main || !is_named(&not_theirs, &one.git_dir)).collect()
}

fn is_named(names: &BTreeSet<String>, record: &Path) -> bool {
    record.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(name))
}

fn lock_path(git: &Git, task: &TaskId) -> PathBuf {
    markers_dir(git).join(format!("{task}.lock"))
}

/// Takes the lock of a task away that has no worktree any more. Whoever waits for it makes it anew.
pub fn let_go_for_good(git: &Git, task: &TaskId, held: File) {
    let _ = std::fs::remove_file(lock_path(git, task));
    drop(held);
}

/// One at a time for a task: a person's command and the coordinator may both want its worktree.
pub async fn hold_task(git: &Git, task: &TaskId) -> Result<File, GitError> {
    let dir = markers_dir(git);
    make_own_folder(&dir)?;
    let path = lock_path(git, task);
    let held = lock_within(&path, "", OTHERS_LIMIT).await?;
    held.ok_or_else(|| {
        GitError::io("take", &path)(std::io::Error::other("another command is at this worktree"))
    })
}
