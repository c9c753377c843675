//! The task's branch and worktree brought to the commit that merges the trunk into them. Nobody works there meanwhile.

use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use super::{Joined, Work};
use crate::operation::restore_tree::{Restore, Restored, restore};
use swarm_git::{Git, GitError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchJoined {
    Done,
    /// Somebody else has put something on the branch, or has it checked out. Nothing was changed.
    InTheWay,
}

/// Moves the branch of the task from its tip to the joined one, with the worktree, which `dir` has. Asked twice, or
/// after an earlier one onto another trunk that nobody heard of, it does the same; what was not committed goes to a ref.
pub async fn join_branch(
    git: &Git,
    dir: &Path,
    work: &Work,
    joined: &Joined,
) -> Result<BranchJoined, GitError> {
    let task = &work.task;
    let now = git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
    let old = match now {
        Some(now) if is_ours(git, task, &work.tip, &now).await? => now,
        _ => work.tip.clone(),
    };
    let (tip, base, dirty, save_as) = (&joined.tip, Some(&work.base), None, None);
    let asked = Restore { task, dir, old: Some(&old), tip, base, dirty, save_as };
    Ok(match restore(git, &asked).await? {
        Restored::Done { .. } => BranchJoined::Done,
        Restored::BranchMoved { .. } | Restored::InTheWay { .. } => BranchJoined::InTheWay,
    })
}

/// Whether the branch is at an earlier commit of this kind, directly upon the tip.
pub(crate) async fn is_ours(git: &Git, task: &TaskId, tip: &Oid, now: &Oid) -> Result<bool, GitError> {
    if now == tip {
        return Ok(false);
    }
    let parts = git.commit_parts(now).await?;
    let says_so = parts.message.starts_with(format!("Merge trunk into {}\n", task.branch()).as_bytes());
    Ok(says_so && parts.parents.len() == 2 && parts.parents.first() == Some(tip))
}
