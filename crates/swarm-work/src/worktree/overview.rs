//! Every worktree the swarm has made or finds where its own should be, as far as that is cheap to see.

use std::path::{Path, PathBuf};

use swarm_protocol::ids::TaskId;

use super::{MarkerState, RESERVED, all_markers, pool, records_at};
use crate::rescue::uncommitted;
use crate::shared_tree;
use swarm_git::{Git, GitError};

/// One line of `swarm worktree list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: PathBuf,
    pub kind: Kind,
    /// Files that differ from the branch, or are not tracked; none where nobody looked.
    pub uncommitted: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Of a task, ready to work in.
    Task(TaskId),
    /// Of a task, but never finished: made again by the next attempt.
    HalfMade(TaskId),
    /// The folder is gone, the branch stays.
    FolderGone(TaskId),
    /// The one in which merged work is verified.
    Merge,
    /// The one in which these tasks are worked on together.
    Shared { tasks: Vec<TaskId> },
    /// Kept for the next task; `ready` when it is proven clean.
    Pool { ready: bool },
    /// A folder among the worktrees that the swarm has not made.
    Orphan,
}

/// `dir` is the folder of all worktrees, `merge` the worktree of verification.
pub async fn overview(git: &Git, dir: &Path, merge: &Path) -> Result<Vec<Seen>, GitError> {
    let mut all = Vec::new();
    let mut known: Vec<PathBuf> = vec![merge.to_owned()];
    for marker in all_markers(git) {
        known.push(marker.path.clone());
        let task = marker.task.clone();
        let kind = match (marker.path.is_dir(), marker.state) {
            (true, MarkerState::Ready) => Kind::Task(task),
            (true, MarkerState::Making) => Kind::HalfMade(task),
            (false, _) => Kind::FolderGone(task),
        };
        let mut uncommitted_files = None;
        if let Kind::Task(task) = &kind
            && let Some(tip) = git.ref_value(&format!("refs/heads/{}", task.branch())).await?
            && !records_at(git, &marker.path, Some(&marker)).is_empty()
        {
            uncommitted_files = uncommitted(git, &marker.path, task, &tip).await.ok();
        }
        all.push(Seen { path: marker.path, kind, uncommitted: uncommitted_files });
    }
    if merge.is_dir() {
        all.push(Seen { path: merge.to_owned(), kind: Kind::Merge, uncommitted: None });
    }
    if let Some((path, tasks)) = shared_tree::seen(git) {
        all.push(Seen { path, kind: Kind::Shared { tasks }, uncommitted: None });
    }
    for (path, ready) in pool::contents(git) {
        all.push(Seen { path, kind: Kind::Pool { ready }, uncommitted: None });
    }
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let mut strangers: Vec<PathBuf> = entries
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .filter(|entry| !RESERVED.iter().any(|name| entry.file_name() == *name))
        .map(|entry| entry.path())
        .filter(|path| !known.contains(path))
        .collect();
    strangers.sort();
    all.extend(strangers.into_iter().map(|path| Seen { path, kind: Kind::Orphan, uncommitted: None }));
    Ok(all)
}
