//! Removing a task's worktree and branch, only by proof. Whatever cannot be proven keeps it where it is,
//! with the reason.
//!
//! The order is: everything of value on refs and on the disk, then the folder to the pool or the trash, then
//! git's record of it, then the branch, the marker last. Killed anywhere, the next call goes on from there.

mod disposable;
mod left_behind;
mod proof;
mod trash;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use swarm_protocol::ids::{Oid, TaskId};

use crate::operation::left;
use crate::rescue::RESCUE_FILE_MAX_BYTES;
use crate::worktree::pool::{self, PoolRule};
use crate::worktree::{
    checkouts_of_people, copy, hold_task, let_go_for_good, marker_of, marker_path, ports, records_at, setup,
};
pub use disposable::{DISPOSABLE, Disposable};
use left_behind::OfOwn;
use swarm_git::{Git, GitError, OwnRepository, PrivateIndex, RefChange, RefOutcome, remove_marker, tips};
use swarm_process::{remove_tree, who_stays_inside};
pub use trash::{About, Emptied, TrashRule, Trashed, empty_trash, tend_trash, trash_dir, trashed};
pub use trash::{move_to_trash, move_with_note, trash_record};

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
    #[error("{} is a link: only the folder itself can be given up, so move it there", path.display())]
    Linked { path: PathBuf },
    #[error("process {pid} works in it")]
    InUse { pid: u32 },
    #[error("a person has locked it: `git worktree unlock {}`", path.display())]
    Locked { path: PathBuf },
    #[error("{} is a repository of its own", path.display())]
    NestedRepository { path: PathBuf },
    #[error("{} is too large to be saved, cannot be read, or has a name that git refuses", path.display())]
    LeftOut { path: PathBuf },
    #[error("{} is ignored by git and not known to be disposable", path.display())]
    IgnoredFile { path: PathBuf },
    #[error("the branch {branch} moved meanwhile")]
    BranchMoved { branch: String },
    #[error(
        "{branch} has {commits} that came after the merge: `swarm worktree merge {task}` merges them too"
    )]
    Unmerged { task: TaskId, branch: String, commits: String },
    #[error("what was saved to {name} is not what is there")]
    NotSaved { name: String },
}

/// A worktree to be given up.
#[derive(Debug, Clone, Copy)]
pub struct GivingUp<'a> {
    pub task: &'a TaskId,
    /// The folder that all worktrees are in.
    pub dir: &'a Path,
    /// Names or globs of ignored files that may go besides those that tools are known to make again.
    pub disposable: &'a [String],
    /// A worktree with a larger file that is not committed stays.
    pub max_file_bytes: u64,
    /// Where it may be kept for the next task.
    pub pool: Option<&'a PoolRule>,
    /// Only look: nothing is saved and nothing is removed.
    pub only_look: bool,
    /// It may be wanted back as it is: what lies there is noted, under this name.
    pub remember: Option<u64>,
    /// The tip of the branch that was merged: a branch with more on it stays.
    pub merged: Option<&'a Oid>,
    /// What cannot be proven to be of no value does not keep it: the whole folder is kept in the trash for good.
    pub force: bool,
}

/// Removes the worktree `dir/<task>` and its branch. `disposable` are names or globs of ignored files that may go.
pub async fn remove(
    git: &Git,
    task: &TaskId,
    dir: &Path,
    disposable: &[String],
) -> Result<Removal, GitError> {
    let max_file_bytes = RESCUE_FILE_MAX_BYTES;
    let (pool, only_look, remember, merged, force) = (None, false, None, None, false);
    let asked = GivingUp { task, dir, disposable, max_file_bytes, pool, only_look, remember, merged, force };
    give_up(git, &asked).await
}

/// Gives the worktree and the branch of a task up, by proof. Safe to ask again after death at any point.
pub async fn give_up(git: &Git, asked: &GivingUp<'_>) -> Result<Removal, GitError> {
    let task = asked.task;
    let mine = hold_task(git, task).await?;
    let removal = give_up_held(git, asked).await?;
    if removal == Removal::Removed && !asked.only_look {
        let_go_for_good(git, task, mine);
    }
    Ok(removal)
}

async fn give_up_held(git: &Git, asked: &GivingUp<'_>) -> Result<Removal, GitError> {
    let task = asked.task;
    let dir = std::fs::canonicalize(asked.dir).unwrap_or_else(|_| asked.dir.to_owned());
    let path = dir.join(task.as_str());
    let Some(marker) = marker_of(git, task, &path)? else {
        let there = std::fs::symlink_metadata(&path).is_ok();
        return Ok(if there { Removal::Kept { why: KeptWhy::NotOurs { path } } } else { Removal::Removed });
    };
    let records = records_at(git, &path, Some(&marker));
    let full = format!("refs/heads/{}", task.branch());
    let tip = git.ref_value(&full).await?;
    let mut looked_at = SystemTime::now();
    if path.is_dir() {
        if let Some(pid) = who_stays_inside(&path, LEAVING_LIMIT).await {
            return Ok(Removal::Kept { why: KeptWhy::InUse { pid } });
        }
        looked_at = pool::a_moment_of_its_own().await;
        if let Some(why) = blocked(git, asked, &path, &records, tip.as_ref()).await? {
            return Ok(Removal::Kept { why });
        }
    }
    if let (Some(merged), Some(tip)) = (asked.merged, &tip)
        && let Some(why) = unmerged(git, task, merged, tip).await?
    {
        return Ok(Removal::Kept { why });
    }
    if asked.only_look {
        return Ok(Removal::Removed);
    }
    let stands_on = tip.as_ref().unwrap_or(&marker.base);
    // Before the branch: of two that are equally old the newer one is what `swarm restore TASK` brings back.
    let of_own = left_behind::keep_of_own(git, task, &path, stands_on, asked.max_file_bytes).await?;
    if let Some(tip) = &tip {
        keep_commit(git, "kept", task, tip).await?;
    }
    for record in &records {
        left_behind::keep(git, task, record, stands_on).await?;
    }
    if let (Some(name), Some(tip), true) = (asked.remember, &tip, path.is_dir()) {
        left::note(git, task, name, &path, &records, (&marker.base, tip)).await?;
    }
    git.make_durable().await?;
    // Once more, as close to the rename as can be.
    if let Some(pid) = who_stays_inside(&path, LEAVING_LIMIT).await {
        return Ok(Removal::Kept { why: KeptWhy::InUse { pid } });
    }
    take_away(git, asked, &path, (tip.as_ref(), looked_at)).await?;
    put_own_away(git, task, &path, of_own)?;
    for record in &records {
        // Into the trash as well: its reflog may be the only word about a commit an agent has dropped.
        trash_record(git, task.as_str(), record)?;
    }
    if let Some(tip) = tip
        && !delete_branch(git, &full, &tip).await?
    {
        return Ok(Removal::Kept { why: KeptWhy::BranchMoved { branch: task.branch() } });
    }
    forget(git, task).await?;
    Ok(Removal::Removed)
}

/// What came onto the branch after it was handed in.
async fn unmerged(git: &Git, task: &TaskId, merged: &Oid, tip: &Oid) -> Result<Option<KeptWhy>, GitError> {
    if merged == tip || git.resolve(merged.as_str()).await?.is_none() {
        return Ok(None);
    }
    // Nothing new in it: a branch that was set back, or only commits without a change.
    if git.is_ancestor(tip, merged).await? || git.tree_of(tip).await? == git.tree_of(merged).await? {
        return Ok(None);
    }
    let commits = match git.first_parent_range(merged, tip).await?.len() {
        1 => "1 commit".to_owned(),
        n => format!("{n} commits"),
    };
    Ok(Some(KeptWhy::Unmerged { task: task.clone(), branch: task.branch(), commits }))
}

/// False when it has moved to another commit. One that a person has checked out stays.
async fn delete_branch(git: &Git, full: &str, tip: &Oid) -> Result<bool, GitError> {
    let _one_at_a_time = git.administration().await?;
    if checkouts_of_people(git).iter().any(|checkout| checkout.occupies(full)) {
        return Ok(true);
    }
    let deleted = git.update_refs(&[RefChange::delete(full, tip)], "swarm: task is done").await?;
    Ok(!matches!(deleted, RefOutcome::Lost { now: Some(_), .. }))
}

/// Small things that are known of a worktree. The marker goes last.
async fn forget(git: &Git, task: &TaskId) -> Result<(), GitError> {
    PrivateIndex::take(git, task.as_str()).await?.discard();
    setup::forget(git, task.as_str());
    copy::forget_copies(git, task.as_str());
    tips::forget_ours(git, task);
    ports::give_back(git, task.as_str()).await?;
    remove_marker(&marker_path(git, task))
}

async fn blocked(
    git: &Git,
    asked: &GivingUp<'_>,
    path: &Path,
    records: &[PathBuf],
    tip: Option<&Oid>,
) -> Result<Option<KeptWhy>, GitError> {
    if records.iter().any(|record| record.join("locked").exists()) {
        return Ok(Some(KeptWhy::Locked { path: path.to_owned() }));
    }
    // Who works in the folder names it by its own place, and what is moved away by this one is the link alone.
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Ok(Some(KeptWhy::Linked { path: path.to_owned() }));
    }
    // An agent that replaced its pointer by a repository may have committed there.
    if !asked.force && std::fs::symlink_metadata(path.join(".git")).is_ok_and(|meta| meta.is_dir()) {
        return Ok(Some(KeptWhy::NestedRepository { path: path.join(".git") }));
    }
    match tip {
        None if asked.force => Ok(None),
        Some(tip) => proof::save_files(git, asked, path, tip).await,
        // Without the branch there is nothing to compare the files with.
        None => Ok(Some(KeptWhy::BranchMoved { branch: asked.task.branch() })),
    }
}

/// Holds a commit by a ref of its own, `refs/swarm/<shelf>/<task>/<commit>`.
pub async fn keep_commit(git: &Git, shelf: &str, task: &TaskId, commit: &Oid) -> Result<String, GitError> {
    let name = format!("refs/swarm/{shelf}/{task}/{}", commit.short());
    match git.update_refs(&[RefChange::create(&name, commit)], "swarm: kept").await? {
        RefOutcome::Changed => Ok(name),
        RefOutcome::Lost { .. } => Err(GitError::Unreadable {
            command: "update-ref".into(),
            what: format!("{name} holds another commit"),
        }),
    }
}

/// The agent's own repository: into the trash if it holds what was never handed in, and for good what is nowhere else.
fn put_own_away(git: &Git, task: &TaskId, worktree: &Path, of_own: OfOwn) -> Result<(), GitError> {
    let own = OwnRepository::of(worktree, task);
    if own.is_there() {
        let name = format!("{task}-git");
        if of_own == OfOwn::Refused {
            let about = About { task: task.to_string(), tip: None, keep: true };
            move_with_note(git, &name, &own.dir, &about)?;
        } else if own.holds_more(git) {
            move_to_trash(git, &name, &own.dir)?;
        } else {
            remove_tree(&own.dir).map_err(GitError::io("remove", &own.dir))?;
        }
    }
    own.forget(git)
}

async fn take_away(
    git: &Git,
    asked: &GivingUp<'_>,
    path: &Path,
    (tip, looked_at): (Option<&Oid>, SystemTime),
) -> Result<(), GitError> {
    let name = asked.task.as_str();
    if std::fs::symlink_metadata(path).is_ok() {
        let pooled = match (asked.pool, tip) {
            (Some(rule), Some(tip)) => pool::put(git, rule, asked.task, path, (tip, looked_at)).await?,
            _ => false,
        };
        if !pooled {
            let about = About { task: name.to_owned(), tip: tip.cloned(), keep: asked.force };
            move_with_note(git, name, path, &about)?;
        }
    }
    Ok(())
}
