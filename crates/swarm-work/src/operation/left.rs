//! What lay in a worktree when it was given up, and how it comes to lie there again: a task that was cancelled may be
//! wanted back. Its commits are held by refs of their own; where they are stands in the ledger. Until it does a note
//! beside the markers says it, so that a removal that is asked for again, after a death, has the same answer.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::Left;

use super::restore_tree::{Restore, Restored, restore};
use super::uncommitted::uncommitted_work;
use crate::remove::keep_commit;
use swarm_git::{Git, GitError, read_marker, write_marker};

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// Of the removal.
    name: u64,
    left: Left,
}

/// One for each task: the last removal is the only one that can be asked for again.
fn note_of(git: &Git, task: &TaskId) -> PathBuf {
    git.swarm_dir().join("left").join(format!("{task}.json"))
}

/// Notes what lies in the worktree now.
pub(crate) async fn note(
    git: &Git,
    task: &TaskId,
    name: u64,
    path: &Path,
    records: &[PathBuf],
    (base, tip): (&Oid, &Oid),
) -> Result<(), GitError> {
    let dirty = uncommitted_work(git, task, path, records, tip).await?.commit;
    if let Some(commit) = &dirty {
        keep_commit(git, "rescue", task, commit).await?;
    }
    let left = Left { base: base.clone(), tip: tip.clone(), dirty };
    write_marker(&note_of(git, task), &Note { name, left })
}

/// What the removal of this name left; none: there was nothing.
pub fn of_removal(git: &Git, task: &TaskId, name: u64) -> Option<Left> {
    read_marker::<Note>(&note_of(git, task)).filter(|note| note.name == name).map(|note| note.left)
}

/// Why what was left cannot lie there again now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotBack {
    pub why: String,
    /// The command that helps.
    pub hint: Option<String>,
}

/// Branch, files and what was not committed lie there again. Says where the task's commits begin, or why it is not
/// possible. Safe to ask again after death at any point.
pub async fn revive(
    git: &Git,
    task: &TaskId,
    dir: &Path,
    left: &Left,
) -> Result<Result<Option<Oid>, NotBack>, GitError> {
    let Left { base, tip, dirty } = left;
    for commit in [base, tip].into_iter().chain(dirty) {
        if git.resolve(commit.as_str()).await?.is_none() {
            let why = format!("the commit {} is not in the repository any more", commit.short());
            return Ok(Err(NotBack { why, hint: None }));
        }
    }
    let (base, dirty) = (Some(base), dirty.as_ref());
    let back = Restore { task, dir, old: None, tip, base, dirty, save_as: None };
    Ok(match restore(git, &back).await? {
        Restored::Done { .. } => Ok(base.cloned()),
        Restored::BranchMoved { now } => {
            let at = now.map_or("gone".to_owned(), |oid| format!("at {}", oid.short()));
            let why = format!("the branch {} is {at} by now", task.branch());
            Err(NotBack { why, hint: Some(format!("git branch -m {} {task}-old", task.branch())) })
        }
        Restored::InTheWay { why, hint } => {
            Err(NotBack { why, hint: Some(hint).filter(|hint| !hint.is_empty()) })
        }
    })
}
