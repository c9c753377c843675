//! What lay in a worktree when it was given up, so that it can lie there again: a task that was cancelled may be
//! wanted back. A note beside the markers says where it is; its commits are held by refs of their own.
//!
//! There is a note as long as the worktree is gone: whoever has made the worktree again takes it away.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};

use super::restore_tree::{Restore, Restored, restore};
use super::uncommitted::uncommitted_work;
use crate::git::{Git, GitError, read_marker, write_marker};
use crate::hands::remove::keep_commit;
use crate::hands::worktree::marker_of;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Left {
    /// Where the task's own commits begin.
    base: Oid,
    tip: Oid,
    /// What was not committed, if anything was.
    dirty: Option<Oid>,
}

fn note_of(git: &Git, task: &TaskId) -> PathBuf {
    git.swarm_dir().join("left").join(format!("{task}.json"))
}

/// Notes what lies in the worktree now. Asked again after the folder has gone, the first note stands.
pub(crate) async fn note(
    git: &Git,
    task: &TaskId,
    path: &Path,
    records: &[PathBuf],
    base: &Oid,
    tip: &Oid,
) -> Result<(), GitError> {
    let dirty = uncommitted_work(git, task, path, records, tip).await?.commit;
    if let Some(commit) = &dirty {
        keep_commit(git, "rescue", task, commit).await?;
    }
    let left = Left { base: base.clone(), tip: tip.clone(), dirty };
    write_marker(&note_of(git, task), &left)
}

/// The worktree is there again. A note that cannot be removed does no harm: the next one takes its place.
pub(crate) fn forget(git: &Git, task: &TaskId) {
    let _ = std::fs::remove_file(note_of(git, task));
}

/// Branch, files and what was not committed lie there again. Says where the task's commits begin; none: there was
/// nothing. Safe to ask again after death at any point.
pub async fn revive(git: &Git, task: &TaskId, dir: &Path) -> Result<Result<Option<Oid>, String>, GitError> {
    let path = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned()).join(task.as_str());
    let there = marker_of(git, task, &path)?.filter(|_| path.is_dir());
    let now = git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
    let left = read_marker::<Left>(&note_of(git, task));
    // Half way back its branch is where it was; anywhere else somebody has begun anew.
    let Some(left) = left.filter(|left| there.is_none() || now.as_ref() == Some(&left.tip)) else {
        return Ok(Ok(there.map(|marker| marker.base)));
    };
    let Left { base, tip, dirty } = &left;
    for commit in [base, tip].into_iter().chain(dirty) {
        if git.resolve(commit.as_str()).await?.is_none() {
            return Ok(Err(format!("the commit {} is not in the repository any more", commit.short())));
        }
    }
    let (base, dirty) = (Some(base), dirty.as_ref());
    let back = Restore { task, dir, old: None, tip, base, dirty, save_as: None };
    Ok(match restore(git, &back).await? {
        Restored::Done { .. } => {
            forget(git, task);
            Ok(Some(left.base))
        }
        Restored::BranchMoved { now } => {
            let at = now.map_or("gone".to_owned(), |oid| format!("at {}", oid.short()));
            Err(format!("the branch {} is {at} by now", task.branch()))
        }
        Restored::InTheWay { why, .. } => Err(why),
    })
}
