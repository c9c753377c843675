//! What is not committed in a worktree, as a commit that nothing names yet. The same files on the same tip give
//! the same commit, whoever asks and when: so two of them can be compared, and asking twice makes one.

use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use crate::rescue::{Exact, Snapshot, snapshot_exact};
use swarm_git::{Git, GitError, Head, NewCommit};

/// A worktree that somebody writes to may change while it is read; then it is read again.
const TRIES_MAX: u32 = 3;

/// Files named in the message because they are not in it.
const NAMED_MAX: usize = 20;

/// One look at a worktree.
pub(super) struct Uncommitted {
    /// All files that git does not ignore.
    pub files: Exact,
    /// None when everything is committed on the tip.
    pub commit: Option<Oid>,
}

/// Reads the worktree. `records` are git's records of it: an agent in the middle of a rebase has commits
/// that only its HEAD holds.
pub(super) async fn uncommitted_work(
    git: &Git,
    task: &TaskId,
    path: &Path,
    records: &[std::path::PathBuf],
    tip: &Oid,
) -> Result<Uncommitted, GitError> {
    let files = steady_snapshot(git, path, task, tip).await?;
    let shot = &files.shot;
    let head = match records.first().map(|record| git.head_in(record)) {
        Some(Head::Detached(oid)) if oid != *tip => git.resolve(oid.as_str()).await?,
        _ => None,
    };
    if !shot.differs && head.is_none() {
        return Ok(Uncommitted { files, commit: None });
    }
    let message = message(task, shot);
    let parents: Vec<Oid> = std::iter::once(tip.clone()).chain(head).collect();
    let commit = NewCommit {
        tree: &shot.tree,
        parents: &parents,
        author: None,
        encoding: None,
        message: message.as_bytes(),
        at_secs: 0,
    };
    let commit = Some(git.make_commit(commit).await?);
    Ok(Uncommitted { files, commit })
}

/// The commit of it, for somebody who keeps nobody from giving the worktree up: one that goes while it is read holds
/// nothing any more, since all of it was put on refs before it went.
pub(super) async fn uncommitted_commit(
    git: &Git,
    task: &TaskId,
    path: &Path,
    records: &[std::path::PathBuf],
    tip: &Oid,
) -> Result<Option<Oid>, GitError> {
    match uncommitted_work(git, task, path, records, tip).await {
        Ok(found) => Ok(found.commit),
        Err(_) if !path.is_dir() => Ok(None),
        Err(error) => Err(error),
    }
}

async fn steady_snapshot(git: &Git, path: &Path, task: &TaskId, tip: &Oid) -> Result<Exact, GitError> {
    let mut last = None;
    for _ in 0..TRIES_MAX {
        match snapshot_exact(git, path, task, tip).await {
            Ok(shot) => return Ok(shot),
            Err(error @ GitError::Failed { .. }) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.expect("the loop ran"))
}

fn message(task: &TaskId, shot: &Snapshot) -> String {
    let mut text = format!("swarm: uncommitted work of {task}\n");
    for (paths, why) in [
        (&shot.left_out, "too large, not to be read, or of a name that git refuses"),
        (&shot.nested, "a repository of its own"),
    ] {
        for path in paths.iter().take(NAMED_MAX) {
            text.push_str(&format!("\nNot in it: {} ({why})", path.display()));
        }
    }
    text.push('\n');
    text
}
