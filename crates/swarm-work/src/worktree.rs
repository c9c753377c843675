//! A worktree for a task: made once, attached again ever after.
//!
//! The marker says `Making` before anything is there and `Ready` when every file is written and on the disk, also those
//! that another task had not committed:
//! in a worktree that never became ready nobody has worked, and it is put aside and made again. The branch
//! is never reset.
//!
//! Many are made at once: each task has a lock of its own, git's record appears by one rename, and the files
//! are written outside of any lock.

mod attach;
mod integrity;
pub mod copy;
mod make;
mod marker;
mod moved;
pub mod overview;
pub mod pool;
pub mod ports;
mod propose;
mod rotten;
pub mod setup;
mod setup_made;
mod submission;
mod tree_walk;

use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use crate::hand_in::{hand_in, tell_not_taken};
use crate::remove::{move_to_trash, trash_record};
use crate::rescue::RESCUE_FILE_MAX_BYTES;
use crate::take_up::take_up;
pub(crate) use attach::newest_whole;
use copy::{CopyError, CopyRule, copy_in};
pub use integrity::{Flaw, examine};
pub use marker::{
    MarkerState, WorktreeMarker, all_markers, checkouts_of_people, hold_task, let_go_for_good, marker_of,
    marker_path, records_at, records_of_tasks,
};
use pool::PoolRule;
pub use propose::{Proposal, propose};
pub use setup::{record_setup, setup_due};
pub(crate) use setup_made::{ignored_in, made_by_setup, record_made};
pub use submission::{Submission, submission};
use swarm_git::{Git, GitError, write_marker};
pub(crate) use tree_walk::names;

/// Names that worktrees of the swarm's own have; no task can have one of them.
pub const RESERVED: [&str; 2] = ["merge", "shared"];

/// Where a new branch starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseRule {
    /// At the present tip of this branch (short name).
    Trunk(String),
    At(Oid),
}

/// A worktree that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub task: &'a TaskId,
    /// The folder that all worktrees are in.
    pub dir: &'a Path,
    pub base: &'a BaseRule,
    /// Where the commits of a branch that is there begin, as the ledger has it. The note beside the worktree is only
    /// a copy of it: it goes with the worktree, and comes back wrong when the branch comes back without one.
    pub begins: Option<&'a Oid>,
    /// What lies in it uncommitted from the beginning on.
    pub takes_up: Option<TakesUp<'a>>,
    /// Where a used one may be taken from.
    pub pool: Option<&'a PoolRule>,
    /// What is copied into it from the person's checkout.
    pub copy: Option<&'a CopyRule>,
    /// The largest file that is taken from an agent's own repository.
    pub max_file_bytes: u64,
}

/// What another task had not committed. It is kept on its ref whatever comes of this.
#[derive(Debug, Clone, Copy)]
pub struct TakesUp<'a> {
    /// The tip of that task. A branch that stands elsewhere has been worked on.
    pub tip: &'a Oid,
    /// The commit that it was saved in.
    pub saved: &'a Oid,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub path: PathBuf,
    /// Short name, `swarm/<task>`.
    pub branch: String,
    /// Where the task's own commits begin.
    pub base: Oid,
    pub tip: Oid,
    /// True when the worktree or the branch was there already.
    pub reattached: bool,
    /// True when it was made from a used one.
    pub recycled: bool,
    /// Git's record of it, `.git/worktrees/<name>`: the agent's own git writes there.
    pub record: PathBuf,
    /// What was wrong with it, and is not any more.
    pub flaws: Vec<Flaw>,
}

#[derive(Debug, thiserror::Error)]
pub enum PrepareFailure {
    #[error(
        "a branch named swarm is in the way of swarm/{task}: rename it with `git branch -m swarm swarm-old`"
    )]
    BranchInTheWay { task: TaskId },
    #[error("{} is there but is not a worktree of {task}: move it away", path.display())]
    FolderInTheWay { task: TaskId, path: PathBuf },
    #[error("the branch swarm/{task} is checked out at {}: run `{free}`", path.display())]
    CheckedOutElsewhere { task: TaskId, path: PathBuf, free: String },
    #[error(
        "there is a branch swarm/{task} that the swarm did not make: rename it with `git branch -m swarm/{task} {task}-old`"
    )]
    StrangersBranch { task: TaskId },
    #[error("there is no branch {branch} to start from: `git branch {branch} COMMIT` makes it")]
    NoTrunk { branch: String },
    #[error("cannot copy files into the worktree: {0}")]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl PrepareFailure {
    /// Whether it may be over with the next try: git may do better, and a branch that was renamed for a moment is there
    /// again. A name in the way stays there.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Git(_) | Self::NoTrunk { .. })
    }
}

/// Where the task's own commits begin; none for a worktree that the swarm did not make.
pub(crate) fn base_of(git: &Git, task: &TaskId, path: &Path) -> Result<Option<Oid>, GitError> {
    Ok(marker_of(git, task, path)?.map(|marker| marker.base))
}

/// Makes or finds the worktree `dir/<task>` on the branch `swarm/<task>`: never from the pool, with nothing copied.
pub async fn prepare(
    git: &Git,
    task: &TaskId,
    dir: &Path,
    base: &BaseRule,
) -> Result<Prepared, PrepareFailure> {
    prepare_as(
        git,
        &Wanted {
            task,
            dir,
            base,
            begins: None,
            takes_up: None,
            pool: None,
            copy: None,
            max_file_bytes: RESCUE_FILE_MAX_BYTES,
        },
    )
    .await
}

/// Makes, recycles or finds the worktree. Safe to ask again after death at any point.
pub async fn prepare_as(git: &Git, wanted: &Wanted<'_>) -> Result<Prepared, PrepareFailure> {
    prepare_with(git, wanted, Files::Unknown).await
}

/// The same for one whose files are all saved: they are not looked at again.
pub(crate) async fn prepare_saved(git: &Git, wanted: &Wanted<'_>) -> Result<Prepared, PrepareFailure> {
    prepare_with(git, wanted, Files::Saved).await
}

/// What is known of the files of a worktree that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    Unknown,
    /// Whatever is not committed is on a ref.
    Saved,
}

async fn prepare_with(git: &Git, wanted: &Wanted<'_>, files: Files) -> Result<Prepared, PrepareFailure> {
    let (task, dir) = (wanted.task, wanted.dir);
    std::fs::create_dir_all(dir).map_err(GitError::io("make the folder", dir))?;
    let dir = std::fs::canonicalize(dir).map_err(GitError::io("find", dir))?;
    let path = dir.join(task.as_str());
    let _mine = hold_task(git, task).await?;
    let marker = marker_of(git, task, &path)?;
    let records = records_at(git, &path, marker.as_ref());
    // A daemon that was killed may have left commits in the agent's own repository.
    if let Err(error) = hand_in(git, task, &path, wanted.max_file_bytes).await {
        if error.is_shortage() {
            return Err(error.into());
        }
        tell_not_taken(git, task, &error);
    }
    let was_there = std::fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some());
    let made_before = marker.as_ref().map(|marker| marker.state);
    let mut prepared = match (found(&path, marker.as_ref(), &records), marker) {
        (Found::Attached, Some(marker)) => {
            let made = attach::attach(git, task, &records[0], marker, files).await?;
            // Unless somebody has worked here already.
            if let Some(asked) = wanted.takes_up.filter(|asked| *asked.tip == made.tip) {
                take_up(git, &made.path, asked.tip, asked.saved).await?;
            }
            made
        }
        (Found::WithoutRecord, Some(marker)) => attach::register_again(git, task, marker, files).await?,
        (Found::Foreign, _) => return Err(PrepareFailure::FolderInTheWay { task: task.clone(), path }),
        (Found::Leftovers, _) => {
            clear_leftovers(git, task, &path, &records)?;
            make::make(git, wanted, &path).await?
        }
        (Found::Nothing | Found::Attached | Found::WithoutRecord, _) => {
            make::make(git, wanted, &path).await?
        }
    };
    // Made anew although there had been one.
    match made_before {
        Some(MarkerState::Ready) if prepared.flaws.is_empty() && !was_there => {
            prepared.flaws.push(Flaw::Gone)
        }
        Some(MarkerState::Making) => prepared.flaws.push(Flaw::HalfMade),
        _ => {}
    }
    if prepared.reattached
        && let Some(begins) = wanted.begins
    {
        begin_at(git, task, &mut prepared, begins).await?;
    }
    if let Some(rule) = wanted.copy {
        copy_in(git, task.as_str(), &prepared.path, rule).await?;
    }
    Ok(prepared)
}

/// The ledger's word on where the task's commits begin, as long as they do: an agent may have moved its branch
/// to another history.
async fn begin_at(git: &Git, task: &TaskId, made: &mut Prepared, begins: &Oid) -> Result<(), GitError> {
    if made.base == *begins
        || git.resolve(begins.as_str()).await?.is_none()
        || !git.is_ancestor(begins, &made.tip).await?
    {
        return Ok(());
    }
    made.base = begins.clone();
    if let Some(marker) = marker_of(git, task, &made.path)? {
        write_marker(&marker_path(git, task), &WorktreeMarker { base: begins.clone(), ..marker })?;
    }
    Ok(())
}

enum Found {
    Nothing,
    Attached,
    /// The folder with work in it is there, but git has forgotten it (or an agent has made it forget).
    WithoutRecord,
    /// Half made, or its folder is gone: nobody's work is in it.
    Leftovers,
    Foreign,
}

fn found(path: &Path, marker: Option<&WorktreeMarker>, records: &[PathBuf]) -> Found {
    let empty = std::fs::read_dir(path).map(|mut entries| entries.next().is_none());
    match (empty, marker.map(|marker| marker.state), records) {
        (Ok(false), Some(MarkerState::Ready), [_]) => Found::Attached,
        (Ok(false), Some(MarkerState::Ready), []) => Found::WithoutRecord,
        (Ok(_), Some(MarkerState::Making), _) => Found::Leftovers,
        (Ok(false), _, _) => Found::Foreign,
        (Ok(true) | Err(_), _, _) if std::fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir()) => {
            Found::Foreign
        }
        (Ok(true) | Err(_), _, []) => Found::Nothing,
        (Ok(true) | Err(_), _, _) => Found::Leftovers,
    }
}

fn clear_leftovers(git: &Git, task: &TaskId, path: &Path, records: &[PathBuf]) -> Result<(), GitError> {
    if path.exists() {
        move_to_trash(git, task.as_str(), path)?;
    }
    for record in records {
        trash_record(git, task.as_str(), record)?;
    }
    Ok(())
}
