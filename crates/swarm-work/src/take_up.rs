//! What one task had not committed, brought into the worktree of another: the first part of a task that was split
//! goes on where the whole was left. The commit it was saved in is never merged as such.

use std::path::Path;

use swarm_protocol::ids::Oid;

use swarm_git::{Git, GitError, PrivateIndex};

/// Turns the files of a worktree that is clean at `tip` into those of `saved`, as changes that are not committed.
/// False when they are not as they were at `tip`: somebody has worked there, or they were brought before.
pub async fn take_up(git: &Git, worktree: &Path, tip: &Oid, saved: &Oid) -> Result<bool, GitError> {
    if git.resolve(saved.as_str()).await?.is_none() {
        return Ok(false); // the ref it was kept under is gone
    }
    let index = PrivateIndex::take(git, ".take-up").await?;
    index.forget();
    index.call(git, worktree, &["read-tree", tip.as_str()]).ok().await?;
    let clean = ["update-index", "-q", "--refresh", "--ignore-submodules"];
    if index.call(git, worktree, &clean).if_yes().await?.is_none() {
        return Ok(false);
    }
    // Refuses as a whole where a file in the way is not the one of `tip`.
    let turn = ["read-tree", "-m", "-u", tip.as_str(), saved.as_str()];
    match index.call(git, worktree, &turn).ok().await {
        // Some of them may lie there: it is not over.
        Err(error) if error.is_shortage() || error.is_no_answer() => Err(error),
        turned => Ok(turned.is_ok()),
    }
}
