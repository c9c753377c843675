//! The worktree of a killed attempt back to where its iteration began; what the iteration did goes to a ref.

use std::path::Path;

use swarm_protocol::ids::{Oid, RunId, TaskId};

use super::restore_tree::{Restore, Restored, restore};
use crate::rescue::wip_ref;
use swarm_git::{Git, GitError};

/// Where to go back to.
#[derive(Debug, Clone, Copy)]
pub struct Rewind<'a> {
    pub task: &'a TaskId,
    pub run: &'a RunId,
    pub dir: &'a Path,
    /// The tip when the iteration began; none: its branch stays, only what is not committed goes.
    pub to: Option<&'a Oid>,
    /// What was not committed then, if anything was.
    pub dirty: Option<&'a Oid>,
}

/// Saves under `refs/swarm/wip/TASK/RUN` what the iteration changed (its commits, and what it did not commit), then
/// sets branch and files back. Answers with what was saved. The processes of the attempt must be gone.
pub async fn rewind(git: &Git, asked: &Rewind<'_>) -> Result<Result<Option<Oid>, String>, GitError> {
    let branch = asked.task.branch();
    let now = git.ref_value(&format!("refs/heads/{branch}")).await?;
    let Some(tip) = asked.to.or(now.as_ref()) else { return Ok(Ok(None)) };
    if git.resolve(tip.as_str()).await?.is_none() {
        return Ok(Err(format!("the commit {} that {branch} was at is not in the repository", tip.short())));
    }
    let name = wip_ref(asked.task, asked.run);
    let back = Restore {
        task: asked.task,
        dir: asked.dir,
        // Wherever the agent has put it: that is what is undone.
        old: now.as_ref(),
        tip,
        base: None,
        dirty: asked.dirty,
        save_as: Some(&name),
    };
    Ok(match restore(git, &back).await? {
        // Asked again after the end there is nothing more to save: the first answer still stands on the ref.
        Restored::Done { saved: None, .. } => Ok(git.ref_value(&name).await?),
        Restored::Done { saved, .. } => Ok(saved),
        Restored::BranchMoved { .. } => Err(format!("somebody moves the branch {branch}")),
        Restored::InTheWay { why, .. } => Err(why),
    })
}
