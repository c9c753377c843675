//! What git says of a worktree that an attempt has left: for the context of whoever goes on there.

use std::path::Path;

use swarm_agents::handover::{ContextFiles, Ground, Handover, now};
use swarm_git::{Git, GitError};
use swarm_process::complain;
use swarm_protocol::ids::{Oid, RunId, TaskId};

use crate::rescue::wip_ref;
use crate::worktree::base_of;

/// An attempt and where it works.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub task: &'a TaskId,
    pub run: &'a RunId,
    pub worktree: &'a Path,
}

/// Files changed since the task's own base, and its last commit. `wip`: what was not committed.
pub async fn ground(git: &Git, of: Place<'_>, tip: &Oid, wip: Option<&Oid>) -> Result<Ground, GitError> {
    let base = base_of(git, of.task, of.worktree)?.unwrap_or_else(|| tip.clone());
    let paths = git.changed_paths(&base, wip.unwrap_or(tip)).await?;
    Ok(Ground {
        files_modified: paths.iter().map(|path| path.display().to_string()).collect(),
        last_commit: last_commit(git, &base, tip).await?,
        kept_at: wip.map(|_| wip_ref(of.task, of.run)),
    })
}

/// `abc1234 "subject"`; none while the task has no commit of its own.
async fn last_commit(git: &Git, base: &Oid, tip: &Oid) -> Result<Option<String>, GitError> {
    if base == tip {
        return Ok(None);
    }
    let message = git.commit_parts(tip).await?.message;
    let subject = message.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(Some(format!("{} \"{}\"", tip.short(), String::from_utf8_lossy(subject))))
}

/// What this run has left for the next. Where its daemon was killed in the middle, it is looked up and written down now:
/// the daemon is gone, and its work has been saved.
pub async fn left_behind(
    git: &Git,
    files: &ContextFiles,
    of: Place<'_>,
    wip: Option<&Oid>,
) -> Option<Handover> {
    let mut left = files.read().filter(|left| left.run == of.run.as_str())?;
    if !left.under_way {
        return Some(left);
    }
    let found = async {
        match git.ref_value(&format!("refs/heads/{}", of.task.branch())).await? {
            Some(tip) => ground(git, of, &tip, wip).await,
            None => Ok(Ground::default()),
        }
    };
    match found.await {
        Ok(ground) => {
            left.iteration_ended(ground, KILLED, Some(KILLED));
            left.written = now();
            // The next attempt is told less; its work is there all the same.
            complain("write the context", files.write(&left, true));
        }
        Err(error) => complain::<(), _>("see what was changed", Err(error)),
    }
    Some(left)
}

const KILLED: &str = "its daemon was killed";
