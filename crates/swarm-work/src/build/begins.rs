//! Where the commits of a branch begin that was put upon a later trunk.
//!
//! An agent that rebases takes up commits of trunk below its own. They are trunk's: nobody reviews them with the task, and
//! what was reverted there since must not come back with it.

use std::collections::BTreeSet;

use swarm_protocol::ids::Oid;

use super::Work;
use swarm_git::{Git, GitError};

/// The work with its commits beginning where its branch leaves trunk.
pub(super) async fn begun(git: &Git, work: &Work) -> Result<Work, GitError> {
    let base = begins(git, work).await?.unwrap_or_else(|| work.base.clone());
    Ok(Work { base, ..work.clone() })
}

/// None where that is its base. Only trunk's own line counts: what a merge brought to trunk may be the task's.
async fn begins(git: &Git, work: &Work) -> Result<Option<Oid>, GitError> {
    let Work { task, base, tip, trunk, .. } = work;
    if trunk == base {
        return Ok(None);
    }
    let range = git.first_parent_range(base, tip).await?;
    let line: BTreeSet<Oid> = git.first_parent_range(base, trunk).await?.into_iter().collect();
    let last = range.iter().rposition(|oid| line.contains(oid)).filter(|last| last + 1 < range.len());
    let Some(last) = last else { return Ok(None) };
    // Work that is merged again has no branch, or stands upon commits that were made for it.
    let branch = git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
    if branch.as_ref() != Some(tip) {
        return Ok(None);
    }
    let made_for_it = format!("Swarm-Task: {task}");
    for oid in &range[..=last] {
        let message = git.commit_parts(oid).await?.message;
        if message.split(|b| *b == b'\n').any(|line| line.trim_ascii() == made_for_it.as_bytes()) {
            return Ok(None);
        }
    }
    Ok(Some(range[last].clone()))
}
