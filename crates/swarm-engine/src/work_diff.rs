//! What the work of a task changes: from where to where, and as text.
//! Reads only, needs no lock: asked beside a coordinator that works, or where there is none.

use swarm_core::{State, show};
use swarm_git::revert::{Carried, Carry, pick};
use swarm_git::{DiffKind, Git, GitError};
use swarm_protocol::board::DiffView;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::view::WorkView;

/// Bytes of a patch that a screen is given; `swarm task diff` has all of it.
const PATCH_MAX: usize = 2 << 20;

/// Where the work of the task begins and ends as it is now; none: there is no work yet.
pub async fn stretch(
    git: &Git,
    trunk: &str,
    state: &State,
    id: &TaskId,
) -> Result<Option<(Oid, Oid)>, GitError> {
    let own = async |base: Oid, tip: Oid| Ok(Some((git.own_work_begins(trunk, &base, &tip).await?, tip)));
    match show::work(state, id) {
        None => Ok(None),
        Some(WorkView::OnTrunk { commits }) => {
            // As they were merged; what somebody made of them since may hold other work as well.
            let there = git.missing_commits(&commits).await?.is_empty();
            let proof = state.task(id).and_then(|task| task.stage.proof()).filter(|_| !there);
            merged(git, proof.map_or(&commits, |proof| &proof.commits)).await
        }
        Some(WorkView::Submitted { base, tip }) => own(base, tip).await,
        Some(WorkView::OnBranch { base, branch }) => {
            match git.ref_value(&format!("refs/heads/{branch}")).await? {
                Some(tip) => own(base, tip).await,
                None => Ok(None),
            }
        }
    }
}

/// From before the first of these commits to what they make of that alone: others may have come between them.
async fn merged(git: &Git, commits: &[Oid]) -> Result<Option<(Oid, Oid)>, GitError> {
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else { return Ok(None) };
    let Some(from) = git.parent_of(first).await? else { return Ok(None) };
    let mut alone = true;
    for pair in commits.windows(2) {
        alone &= git.parent_of(&pair[1]).await?.as_ref() == Some(&pair[0]);
    }
    let carry = Carry { onto: from.clone(), commits: commits.to_vec(), at_secs: 0, because: None };
    let to = match alone {
        true => last.clone(),
        false => match pick(git, &carry).await? {
            Carried::Built { result, .. } => result,
            Carried::Nothing | Carried::Conflict { .. } => last.clone(),
        },
    };
    Ok(Some((from, to)))
}

/// The same as a patch; none: there is no work yet.
pub async fn work_diff(
    git: &Git,
    trunk: &str,
    state: &State,
    id: &TaskId,
) -> Result<Option<DiffView>, GitError> {
    let Some((from, to)) = stretch(git, trunk, state, id).await? else { return Ok(None) };
    let mut bytes = git.diff_text(&from, &to, DiffKind::Patch).await?;
    let cut = bytes.len() > PATCH_MAX;
    bytes.truncate(PATCH_MAX);
    let patch = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(DiffView { task: id.clone(), from, to, patch, cut }))
}
