//! Removing a task's worktree and branch, only by proof. Whatever cannot be proven keeps it where it is,
//! with the reason.
//!
//! The order is: everything of value on refs and on the disk, then the folder to the trash, then git's record
//! of it, then the branch, the marker last. Killed anywhere, the next call goes on from there.

mod proof;
mod trash;

use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_protocol::ids::{Oid, TaskId};

use crate::git::{Checkout, Git, GitError, RefChange, RefOutcome, remove_marker};
use crate::hands::worktree::{marker_of, marker_path};
use crate::process::who_stays_inside;
pub use trash::{empty_trash, trash_dir};
pub(crate) use trash::{forget_registration, move_to_trash};

/// What may go with a worktree although git ignores it, when the person has named nothing else.
pub const DISPOSABLE: [&str; 14] = [
    "node_modules",
    "target",
    "dist",
    "build",
    ".venv",
    "venv",
    "__pycache__",
    "*.pyc",
    ".pytest_cache",
    ".mypy_cache",
    ".next",
    ".cache",
    "coverage",
    ".DS_Store",
];

/// How long a process that is about to end may take before it counts as living there.
const LEAVING_LIMIT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Gone, or was gone already.
    Removed,
    Kept {
        why: KeptWhy,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptWhy {
    #[error("{} was not made by the swarm for this task", path.display())]
    NotOurs { path: PathBuf },
    #[error("process {pid} works in it")]
    InUse { pid: u32 },
    #[error("a person has locked it: `git worktree unlock {}`", path.display())]
    Locked { path: PathBuf },
    #[error("{} is a repository of its own", path.display())]
    NestedRepository { path: PathBuf },
    #[error("{} is too large to be saved", path.display())]
    TooLarge { path: PathBuf },
    #[error("{} is ignored by git and not known to be disposable", path.display())]
    IgnoredFile { path: PathBuf },
    #[error("the branch {branch} moved meanwhile")]
    BranchMoved { branch: String },
    #[error("what was saved to {name} is not what is there")]
    NotSaved { name: String },
}

/// Removes the worktree `dir/<task>` and its branch. `disposable` are names or globs of ignored files that may go.
pub async fn remove(
    git: &Git,
    task: &TaskId,
    dir: &Path,
    disposable: &[String],
) -> Result<Removal, GitError> {
    let _one_at_a_time = git.shared.worktrees.lock().await;
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let path = dir.join(task.as_str());
    if marker_of(git, task, &path)?.is_none() {
        let there = std::fs::symlink_metadata(&path).is_ok();
        return Ok(if there { Removal::Kept { why: KeptWhy::NotOurs { path } } } else { Removal::Removed });
    }
    let registered: Vec<Checkout> =
        git.linked_checkouts().into_iter().filter(|linked| linked.path == path).collect();
    let full = format!("refs/heads/{}", task.branch());
    let tip = git.ref_value(&full).await?;
    if path.is_dir()
        && let Some(why) = blocked(git, task, &path, &registered, tip.as_ref(), disposable).await?
    {
        return Ok(Removal::Kept { why });
    }
    if let Some(tip) = &tip {
        keep_commit(git, "kept", task, tip).await?;
    }
    for checkout in &registered {
        proof::keep_head(git, task, checkout).await?;
    }
    git.make_durable().await?;
    // Once more, as close to the rename as can be.
    if let Some(pid) = who_stays_inside(&path, LEAVING_LIMIT).await {
        return Ok(Removal::Kept { why: KeptWhy::InUse { pid } });
    }
    take_away(git, task, &path, &registered)?;
    if let Some(tip) = tip
        && !git.checkouts().iter().any(|checkout| checkout.occupies(&full))
        && let RefOutcome::Lost { now: Some(_), .. } =
            git.update_refs(&[RefChange::delete(&full, &tip)], "swarm: task is done").await?
    {
        return Ok(Removal::Kept { why: KeptWhy::BranchMoved { branch: task.branch() } });
    }
    let _ = std::fs::remove_file(git.swarm_dir().join("index").join(task.as_str()));
    remove_marker(&marker_path(git, task))?;
    Ok(Removal::Removed)
}

async fn blocked(
    git: &Git,
    task: &TaskId,
    path: &Path,
    registered: &[Checkout],
    tip: Option<&Oid>,
    disposable: &[String],
) -> Result<Option<KeptWhy>, GitError> {
    if let Some(pid) = who_stays_inside(path, LEAVING_LIMIT).await {
        return Ok(Some(KeptWhy::InUse { pid }));
    }
    if registered.iter().any(|checkout| checkout.git_dir.join("locked").exists()) {
        return Ok(Some(KeptWhy::Locked { path: path.to_owned() }));
    }
    if let Some(path) = proof::ignored_of_value(git, path, disposable).await? {
        return Ok(Some(KeptWhy::IgnoredFile { path }));
    }
    match tip {
        Some(tip) => proof::save_files(git, task, path, tip).await,
        // Without the branch there is nothing to compare the files with.
        None => Ok(Some(KeptWhy::BranchMoved { branch: task.branch() })),
    }
}

/// Holds a commit by a ref of its own, `refs/swarm/<shelf>/<task>/<commit>`.
pub(crate) async fn keep_commit(
    git: &Git,
    shelf: &str,
    task: &TaskId,
    commit: &Oid,
) -> Result<String, GitError> {
    let name = format!("refs/swarm/{shelf}/{task}/{}", commit.short());
    match git.update_refs(&[RefChange::create(&name, commit)], "swarm: kept").await? {
        RefOutcome::Changed => Ok(name),
        RefOutcome::Lost { .. } => Err(GitError::Unreadable {
            command: "update-ref".into(),
            what: format!("{name} holds another commit"),
        }),
    }
}

fn take_away(git: &Git, task: &TaskId, path: &Path, registered: &[Checkout]) -> Result<(), GitError> {
    if std::fs::symlink_metadata(path).is_ok() {
        move_to_trash(git, task.as_str(), path)?;
    }
    for checkout in registered {
        // Into the trash as well: its reflog may be the only word about a commit an agent has dropped.
        move_to_trash(git, task.as_str(), &checkout.git_dir)?;
    }
    Ok(())
}
