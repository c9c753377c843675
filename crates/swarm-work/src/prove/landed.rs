//! The work of a merged task as a branch again: what its commits on trunk did, wherever they came from.

use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::Landed;

use crate::remove::keep_commit;
use swarm_git::revert::{Carried, Carry, pick};
use swarm_git::{Git, GitError};

/// The commits of a task in one line, so that they can be merged again: as they stood on trunk where they stood one after
/// the other, else picked one onto the other.
pub async fn landed(git: &Git, task: &TaskId, proof: &Proof) -> Result<Option<Landed>, GitError> {
    // What trunk had already came before what was merged onto it.
    let found = proof.found.iter().filter(|oid| !proof.own().contains(oid));
    let commits: Vec<Oid> = found.chain(proof.own()).cloned().collect();
    let Some(first) = commits.first() else { return Ok(None) };
    if !git.missing_commits(&commits).await?.is_empty() {
        return Ok(None);
    }
    let Some(base) = git.commit_parts(first).await?.parents.first().cloned() else { return Ok(None) };
    let mut line = true;
    for two in commits.windows(2) {
        line &= git.commit_parts(&two[1]).await?.parents.first() == Some(&two[0]);
    }
    let tip = if line {
        commits.last().cloned()
    } else {
        let carry = Carry { onto: base.clone(), commits, at_secs: 0, because: None };
        match pick(git, &carry).await? {
            Carried::Built { result, .. } => {
                keep_commit(git, "kept", task, &result).await?;
                Some(result)
            }
            Carried::Nothing | Carried::Conflict { .. } => None,
        }
    };
    let Some(tip) = tip else { return Ok(None) };
    Ok(Some(Landed { tree: git.tree_of(&tip).await?, base, tip, stands: vec![] }))
}
