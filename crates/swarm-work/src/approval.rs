//! Whether the branch of a task is still what was approved of it.

use swarm_protocol::ids::{Oid, TaskId};

use swarm_git::{Git, GitError};

use crate::build::is_ours;

/// What was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub task: TaskId,
    pub tip: Oid,
    /// The branch was there when it was approved, and that was to be left out.
    pub left_out: Option<Oid>,
}

/// Where the branch is instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub tip: Oid,
    pub tree: Oid,
}

/// None: the branch has the same files as what was approved, or there is none. A commit that brings nothing, or one that was
/// written anew with the same files, changes nothing that somebody has looked at.
pub async fn changed_since(git: &Git, approval: &Approval) -> Result<Option<Changed>, GitError> {
    let Approval { task, tip, left_out } = approval;
    let Some(now) = git.ref_value(&format!("refs/heads/{}", task.branch())).await? else { return Ok(None) };
    if now == *tip || left_out.as_ref() == Some(&now) || is_ours(git, task, tip, &now).await? {
        return Ok(None);
    }
    let tree = git.tree_of(&now).await?;
    Ok((tree != git.tree_of(tip).await?).then_some(Changed { tip: now, tree }))
}
