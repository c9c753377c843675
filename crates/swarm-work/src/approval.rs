//! Whether the branch of a task is still what was approved of it.

use swarm_protocol::ids::{Oid, TaskId};

use swarm_git::{Git, GitError};

use crate::build::is_ours;

/// What was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub task: TaskId,
    pub tip: Oid,
    /// Where the commits of the branch began.
    pub base: Option<Oid>,
    /// The branch was there when it was approved, and that was to be left out.
    pub left_out: Option<Oid>,
}

/// Where the branch is instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub tip: Oid,
    pub tree: Oid,
    /// Where its commits begin, if they were written anew somewhere else.
    pub base: Option<Oid>,
}

/// None: the branch has the same files as what was approved, or there is none. A commit that brings nothing, or one that was
/// written anew with the same files, changes nothing that somebody has looked at.
pub async fn changed_since(git: &Git, approval: &Approval, trunk: &str) -> Result<Option<Changed>, GitError> {
    let Approval { task, tip, base, left_out } = approval;
    let Some(now) = git.ref_value(&format!("refs/heads/{}", task.branch())).await? else { return Ok(None) };
    if now == *tip || left_out.as_ref() == Some(&now) || is_ours(git, task, tip, &now).await? {
        return Ok(None);
    }
    let tree = git.tree_of(&now).await?;
    if tree == git.tree_of(tip).await? {
        return Ok(None);
    }
    let begins = match git.is_ancestor(tip, &now).await? {
        true => None,
        false => begins_anew(git, trunk, &now).await?,
    };
    let base = match (begins, base) {
        (Some(begins), Some(base)) => match stands_on(git, base, &begins, &now).await? {
            true => None,
            false => Some(begins),
        },
        (begins, _) => begins,
    };
    Ok(Some(Changed { tip: now, tree, base }))
}

/// Whether the branch still stands where its commits began, above where it leaves trunk: what lies between has gone from
/// trunk since, and is no work of the task.
async fn stands_on(git: &Git, base: &Oid, begins: &Oid, tip: &Oid) -> Result<bool, GitError> {
    Ok(git.is_ancestor(begins, base).await? && git.is_ancestor(base, tip).await?)
}

/// Where a branch leaves trunk that was rebased: what lies below is trunk's, and not to be merged once more. None where it
/// has trunk only by a merge: its own commits begin below that.
async fn begins_anew(git: &Git, trunk: &str, tip: &Oid) -> Result<Option<Oid>, GitError> {
    let Some(trunk) = git.ref_value(&format!("refs/heads/{trunk}")).await? else { return Ok(None) };
    let Some(fork) = git.merge_base(&trunk, tip).await? else { return Ok(None) };
    let Some(oldest) = git.first_parent_range(&fork, tip).await?.into_iter().next() else { return Ok(None) };
    let below = git.commit_parts(&oldest).await?.parents.into_iter().next();
    Ok(below.filter(|below| *below == fork))
}
