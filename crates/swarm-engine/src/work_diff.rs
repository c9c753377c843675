//! What the work of a task changes: from where to where, and as text.
//! Reads only, needs no lock: asked beside a coordinator that works, or where there is none.

use swarm_core::{State, show};
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
            let (Some(first), Some(to)) = (commits.first(), commits.last()) else { return Ok(None) };
            Ok(git.parent_of(first).await?.map(|from| (from, to.clone())))
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
