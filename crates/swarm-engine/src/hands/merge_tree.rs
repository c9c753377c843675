//! The worktree in which merged trees are verified: one, kept, detached, shown the commit in question.
//!
//! Files that git ignores stay (they are caches of builds); everything else is made to be the commit,
//! since what an earlier verification left lying must not decide over this one.

use std::path::Path;

use swarm_protocol::ids::Oid;

use crate::git::{Git, GitError};
use crate::hands::remove::move_to_trash;

/// Makes the worktree show exactly this commit. Asked twice, or after a death anywhere, it does the same.
pub async fn show(git: &Git, path: &Path, commit: &Oid) -> Result<(), GitError> {
    let _one_at_a_time = git.shared.worktrees.lock().await;
    let registered = git.linked_checkouts().into_iter().find(|linked| linked.path == path);
    match registered.filter(|_| path.is_dir()) {
        Some(checkout) => {
            let _ = std::fs::remove_file(checkout.git_dir.join("index.lock"));
            let at = |args: &[&str]| git.call(args).git_dir(&checkout.git_dir).work_tree(path);
            // One command moves HEAD, index and files together; a death in it leaves a lock, removed above.
            at(&["checkout", "--quiet", "--detach", "--force", commit.as_str()]).ok().await?;
            at(&["clean", "--quiet", "-ffd"]).ok().await?;
        }
        None => {
            if path.exists() {
                // A half-made one, most likely. Not known to be ours, so it is only moved aside.
                move_to_trash(git, "merge", path)?;
            }
            let add = ["worktree", "add", "--quiet", "--detach", "--force", "--force"];
            git.call(add).arg(path).arg(commit.as_str()).ok().await?;
        }
    }
    Ok(())
}

/// Takes the worktree away when nothing is left to verify. Never the only copy of anything.
pub async fn discard(git: &Git, path: &Path) -> Result<(), GitError> {
    let _one_at_a_time = git.shared.worktrees.lock().await;
    if git.linked_checkouts().iter().any(|linked| linked.path == path) {
        git.call(["worktree", "remove", "--force", "--force"]).arg(path).ok().await?;
    }
    Ok(())
}
