//! A worktree for a task: made once, attached again ever after.
//!
//! `git worktree add` killed in the middle leaves a registered, locked, half-filled worktree. So the
//! marker says `Making` before git is called and `Ready` after it: in a worktree that never became
//! ready nobody has worked, and it is put aside and made again. The branch is never reset.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};

use crate::git::{Checkout, Git, GitError, Head, RefChange, RefOutcome, read_marker, write_marker};
use crate::hands::remove::{forget_registration, move_to_trash};

/// Where a new branch starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseRule {
    /// At the present tip of this branch (short name).
    Trunk(String),
    At(Oid),
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
}

#[derive(Debug, thiserror::Error)]
pub enum PrepareFailure {
    #[error(
        "a branch named swarm is in the way of swarm/{task}: rename it with `git branch -m swarm swarm-old`"
    )]
    BranchInTheWay { task: TaskId },
    #[error("{} is there but is not a worktree of {task}: move it away", path.display())]
    FolderInTheWay { task: TaskId, path: PathBuf },
    #[error("the branch swarm/{task} is checked out at {}: run `git -C {} switch --detach`", path.display(), path.display())]
    CheckedOutElsewhere { task: TaskId, path: PathBuf },
    #[error("there is no branch {branch} to start from")]
    NoTrunk { branch: String },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The proof that a worktree is ours, kept in the common git directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorktreeMarker {
    pub repo_id: String,
    pub task: TaskId,
    pub path: PathBuf,
    pub base: Oid,
    pub state: MarkerState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MarkerState {
    Making,
    Ready,
}

pub(crate) fn marker_path(git: &Git, task: &TaskId) -> PathBuf {
    git.swarm_dir().join("worktrees").join(format!("{task}.json"))
}

/// The marker of this task's worktree at this path, if it is this repository's.
pub(crate) fn marker_of(git: &Git, task: &TaskId, path: &Path) -> Result<Option<WorktreeMarker>, GitError> {
    let repo_id = git.repo_id()?;
    let found: Option<WorktreeMarker> = read_marker(&marker_path(git, task));
    Ok(found.filter(|marker| marker.repo_id == repo_id && marker.task == *task && marker.path == path))
}

/// Makes or finds the worktree `dir/<task>` on the branch `swarm/<task>`.
pub async fn prepare(
    git: &Git,
    task: &TaskId,
    dir: &Path,
    base: &BaseRule,
) -> Result<Prepared, PrepareFailure> {
    let _one_at_a_time = git.shared.worktrees.lock().await;
    std::fs::create_dir_all(dir).map_err(GitError::io("make the folder", dir))?;
    let dir = std::fs::canonicalize(dir).map_err(GitError::io("find", dir))?;
    let path = dir.join(task.as_str());
    if git.ref_value("refs/heads/swarm").await?.is_some() {
        return Err(PrepareFailure::BranchInTheWay { task: task.clone() });
    }
    let marker = marker_of(git, task, &path)?;
    let registered: Vec<Checkout> =
        git.linked_checkouts().into_iter().filter(|linked| linked.path == path).collect();
    match found(&path, marker.as_ref(), &registered) {
        Found::Attached(checkout) => {
            let marker = marker.expect("only a marked worktree is attached");
            return attach(git, task, &checkout, marker).await.map_err(Into::into);
        }
        Found::Foreign => return Err(PrepareFailure::FolderInTheWay { task: task.clone(), path }),
        Found::Leftovers => clear_leftovers(git, task, &path, &registered)?,
        Found::Nothing => {}
    }
    make(git, task, &path, base).await
}

enum Found {
    Nothing,
    Attached(Checkout),
    /// Half made, or its folder is gone: nobody's work is in it.
    Leftovers,
    Foreign,
}

fn found(path: &Path, marker: Option<&WorktreeMarker>, registered: &[Checkout]) -> Found {
    let empty = std::fs::read_dir(path).map(|mut entries| entries.next().is_none());
    match (empty, marker.map(|marker| marker.state), registered) {
        (Ok(false), Some(MarkerState::Ready), [one]) => Found::Attached(one.clone()),
        (Ok(_), Some(MarkerState::Making), _) => Found::Leftovers,
        (Ok(false), _, _) => Found::Foreign,
        (Ok(true) | Err(_), _, []) if std::fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir()) => {
            Found::Foreign
        }
        (Ok(true) | Err(_), _, []) => Found::Nothing,
        (Ok(true) | Err(_), _, _) => Found::Leftovers,
    }
}

fn clear_leftovers(git: &Git, task: &TaskId, path: &Path, registered: &[Checkout]) -> Result<(), GitError> {
    if path.exists() {
        move_to_trash(git, task.as_str(), path)?;
    }
    for checkout in registered {
        forget_registration(checkout)?;
    }
    Ok(())
}

async fn attach(
    git: &Git,
    task: &TaskId,
    checkout: &Checkout,
    marker: WorktreeMarker,
) -> Result<Prepared, GitError> {
    let branch = task.branch();
    let full = format!("refs/heads/{branch}");
    let head = match &checkout.head {
        Head::Detached(oid) => Some(oid.clone()),
        Head::Branch(name) if *name != full => git.ref_value(name).await?,
        _ => None,
    };
    let tip = match git.ref_value(&full).await? {
        Some(tip) => tip,
        // The branch was deleted under the worktree: its last known commit is the best we have.
        None => {
            let tip = head.clone().unwrap_or_else(|| marker.base.clone());
            git.update_refs(&[RefChange::create(&full, &tip)], "swarm: branch of a task restored").await?;
            tip
        }
    };
    // An agent that left its branch may have commits that only its HEAD holds.
    if let Some(head) = head.filter(|head| *head != tip)
        && git.resolve(head.as_str()).await?.is_some()
        && !git.is_ancestor(&head, &tip).await?
    {
        let name = format!("refs/swarm/rescue/{task}/{}", head.short());
        git.update_refs(&[RefChange::create(name, &head)], "swarm: commits off the branch").await?;
    }
    Ok(Prepared { path: checkout.path.clone(), branch, base: marker.base, tip, reattached: true })
}

async fn make(git: &Git, task: &TaskId, path: &Path, base: &BaseRule) -> Result<Prepared, PrepareFailure> {
    let branch = task.branch();
    let full = format!("refs/heads/{branch}");
    let elsewhere =
        git.checkouts().into_iter().find(|checkout| checkout.path != path && checkout.occupies(&full));
    if let Some(checkout) = elsewhere {
        return Err(PrepareFailure::CheckedOutElsewhere { task: task.clone(), path: checkout.path });
    }
    let start = match base {
        BaseRule::At(oid) => oid.clone(),
        BaseRule::Trunk(name) => {
            let found = git.ref_value(&format!("refs/heads/{name}")).await?;
            found.ok_or_else(|| PrepareFailure::NoTrunk { branch: name.clone() })?
        }
    };
    let (base, tip, reattached) = match git.ref_value(&full).await? {
        Some(tip) => {
            let known = read_marker::<WorktreeMarker>(&marker_path(git, task)).map(|marker| marker.base);
            let base = match known {
                Some(base) if git.is_ancestor(&base, &tip).await? => base,
                _ => git.merge_base(&start, &tip).await?.unwrap_or_else(|| start.clone()),
            };
            (base, tip, true)
        }
        None => (start.clone(), start, false),
    };
    let mut marker = WorktreeMarker {
        repo_id: git.repo_id()?,
        task: task.clone(),
        path: path.to_owned(),
        base,
        state: MarkerState::Making,
    };
    write_marker(&marker_path(git, task), &marker)?;
    if !reattached {
        let created = git.update_refs(&[RefChange::create(&full, &tip)], "swarm: branch of a task").await?;
        if let RefOutcome::Lost { name, now } = created {
            let what = format!("{name} appeared at {now:?} meanwhile");
            return Err(GitError::Unreadable { command: "update-ref".into(), what }.into());
        }
    }
    // A killed `worktree add` also leaves the branch locked.
    git.clear_if_abandoned(&git.common_dir.join(format!("{full}.lock"))).await;
    git.call(["worktree", "add", "--quiet"]).arg(path).arg(&branch).ok().await?;
    git.make_durable().await?;
    marker.state = MarkerState::Ready;
    write_marker(&marker_path(git, task), &marker)?;
    Ok(Prepared { path: path.to_owned(), branch, base: marker.base, tip, reattached })
}
