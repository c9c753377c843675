//! A task's worktree set back (or forward) to a tip and to saved files: branch, files, index.
//!
//! Nothing is lost on the way: first what is there now goes to a ref, then the branch moves by compare-and-swap,
//! then the files follow, path by path. Killed anywhere, the next call begins again: what it finds half done it
//! saves once more and finishes. Nobody may work in the worktree meanwhile.

use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use super::files::{Way, lead};
use super::uncommitted::uncommitted_work;
use crate::publish::{aside, free_branch};
use crate::remove::{keep_commit, move_to_trash};
use crate::rescue::{Exact, RESCUE_FILE_MAX_BYTES, snapshot_exact};
use crate::worktree::{
    BaseRule, MarkerState, PrepareFailure, Prepared, Wanted, WorktreeMarker, checkouts_of_people, hold_task,
    marker_of, marker_path, prepare_saved, records_at,
};
use swarm_git::{Git, GitError, PrivateIndex, RefChange, RefOutcome, Untracked, tips, write_marker};

/// What git writes into a worktree's record while something is under way there.
const UNDER_WAY: [&str; 14] = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_LOG",
    "BISECT_START",
    "BISECT_NAMES",
    "BISECT_TERMS",
];

/// Where a worktree shall be.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    pub task: &'a TaskId,
    /// The folder that all worktrees are in.
    pub dir: &'a Path,
    /// Where the branch must be, unless it is at `tip` already; none: nowhere.
    pub old: Option<&'a Oid>,
    pub tip: &'a Oid,
    /// Where the task's own commits begin; none: as it was, or at `tip` for a new worktree.
    pub base: Option<&'a Oid>,
    /// A commit whose files shall lie there, uncommitted; none: those of `tip`.
    pub dirty: Option<&'a Oid>,
    /// The ref for what is there now; none: one of its own on the shelf of rescued work.
    pub save_as: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// It is there, durable. `saved`: what lay there before and is not in the tip, on a ref now; `uncommitted`: the
    /// same if it was not committed.
    Done { path: PathBuf, saved: Option<Oid>, uncommitted: Option<Oid> },
    /// The branch is neither where it was expected nor where it shall be. Nothing was changed.
    BranchMoved { now: Option<Oid> },
    /// Something of a person's is in the way. Nothing was changed.
    InTheWay { why: String, hint: String },
}

/// Whether the worktree could be restored now; what is in the way if not. Reads only.
pub async fn look(git: &Git, asked: &Restore<'_>) -> Result<Option<Restored>, GitError> {
    let now = git.ref_value(&format!("refs/heads/{}", asked.task.branch())).await?;
    if now.as_ref() != Some(asked.tip) && now.as_ref() != asked.old {
        return Ok(Some(Restored::BranchMoved { now }));
    }
    let dir = std::fs::canonicalize(asked.dir).unwrap_or_else(|_| asked.dir.to_owned());
    let path = dir.join(asked.task.as_str());
    let marker = marker_of(git, asked.task, &path)?;
    Ok(obstacle(git, &path, marker.as_ref(), &format!("refs/heads/{}", asked.task.branch())))
}

/// Restores the worktree, making it where there is none. Asked twice it changes nothing.
pub async fn restore(git: &Git, asked: &Restore<'_>) -> Result<Restored, GitError> {
    std::fs::create_dir_all(asked.dir).map_err(GitError::io("make the folder", asked.dir))?;
    let dir = std::fs::canonicalize(asked.dir).map_err(GitError::io("find", asked.dir))?;
    let path = dir.join(asked.task.as_str());
    let full = format!("refs/heads/{}", asked.task.branch());
    let mine = hold_task(git, asked.task).await?;
    let now = git.ref_value(&full).await?;
    if now.as_ref() != Some(asked.tip) && now.as_ref() != asked.old {
        return Ok(Restored::BranchMoved { now });
    }
    let marker = marker_of(git, asked.task, &path)?;
    if let Some(obstacle) = obstacle(git, &path, marker.as_ref(), &full) {
        return Ok(obstacle);
    }
    let records = records_at(git, &path, marker.as_ref());
    let Present { files, saved, uncommitted } =
        save_present(git, asked, &path, marker.as_ref(), &records, now.as_ref()).await?;
    for record in &records {
        end_what_is_under_way(git, asked.task, record)?;
    }
    set_base(git, asked, &path, marker)?;
    if let Some(now) = move_branch(git, asked, &full, records.first(), now).await? {
        return Ok(Restored::BranchMoved { now });
    }
    // Making and attaching take the task's lock themselves.
    drop(mine);
    let base = BaseRule::At(asked.base.unwrap_or(asked.tip).clone());
    let begins = asked.base;
    let wanted = Wanted {
        task: asked.task,
        dir: &dir,
        base: &base,
        begins,
        takes_up: None,
        pool: None,
        copy: None,
        max_file_bytes: RESCUE_FILE_MAX_BYTES,
    };
    let place = match prepare_saved(git, &wanted).await {
        Ok(place) => place,
        Err(PrepareFailure::Git(error)) => return Err(error),
        Err(other) => return Ok(Restored::InTheWay { why: other.to_string(), hint: String::new() }),
    };
    let ignored = match files {
        Some(_) => untracked(git, asked.task, &place.path, Untracked::Ignored).await?,
        None => Vec::new(),
    };
    put_files(git, asked, &place, files).await?;
    put_uncovered_aside(git, asked, &place.path, &ignored).await?;
    git.make_durable().await?;
    Ok(Restored::Done { path, saved, uncommitted })
}

/// Files that git ignored by rules which went with the rest: whoever wrote the rules made them, and they are not to come
/// into the work of whoever is next. They go to the trash, as other ignored files that are in the way.
async fn put_uncovered_aside(
    git: &Git,
    asked: &Restore<'_>,
    worktree: &Path,
    ignored: &[PathBuf],
) -> Result<(), GitError> {
    if ignored.is_empty() {
        return Ok(());
    }
    for path in untracked(git, asked.task, worktree, Untracked::NotIgnored).await? {
        if ignored.iter().any(|was| path.starts_with(was) || was.starts_with(&path)) {
            let name = format!("{}-ignored-no-more", asked.task);
            move_to_trash(git, &name, &worktree.join(&path))?;
        }
    }
    Ok(())
}

async fn untracked(
    git: &Git,
    task: &TaskId,
    worktree: &Path,
    which: Untracked,
) -> Result<Vec<PathBuf>, GitError> {
    PrivateIndex::take(git, task.as_str()).await?.untracked(git, worktree, which).await
}

fn obstacle(git: &Git, path: &Path, marker: Option<&WorktreeMarker>, full: &str) -> Option<Restored> {
    let there = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if there && marker.is_none() {
        let why = format!("{} is there but is not a worktree of the swarm", path.display());
        return Some(Restored::InTheWay { why, hint: aside(path, path) });
    }
    let elsewhere =
        checkouts_of_people(git).into_iter().find(|one| one.path != path && one.occupies(full))?;
    let branch = full.trim_start_matches("refs/heads/");
    let why = format!("the branch {branch} is checked out at {}", elsewhere.path.display());
    Some(Restored::InTheWay { why, hint: free_branch(&elsewhere) })
}

/// What lay in the worktree.
#[derive(Default)]
struct Present {
    /// All files that git did not ignore; none where there was no worktree.
    files: Option<Exact>,
    /// What was saved of it, and the part of that which was not committed.
    saved: Option<Oid>,
    uncommitted: Option<Oid>,
}

/// Puts on refs what the move would hide: commits that the new tip does not have, and files.
async fn save_present(
    git: &Git,
    asked: &Restore<'_>,
    path: &Path,
    marker: Option<&WorktreeMarker>,
    records: &[PathBuf],
    now: Option<&Oid>,
) -> Result<Present, GitError> {
    let mut present = Present::default();
    let Some(stands_on) = now.or(marker.map(|marker| &marker.base)) else { return Ok(present) };
    let ready = marker.is_some_and(|marker| marker.state == MarkerState::Ready) && path.is_dir();
    if ready {
        let target = git.tree_of(asked.dirty.unwrap_or(asked.tip)).await?;
        let found = uncommitted_work(git, asked.task, path, records, stands_on).await?;
        // What shall lie there anyway is held by whoever asks for it.
        present.uncommitted = found.commit.filter(|_| found.files.shot.tree != target);
        present.files = Some(found.files);
    }
    let work = present.uncommitted.as_ref().unwrap_or(stands_on);
    if present.uncommitted.is_none() && git.is_ancestor(work, asked.tip).await? {
        return Ok(present);
    }
    match asked.save_as {
        Some(name) => put_ref(git, name, work).await?,
        None => drop(keep_commit(git, "rescue", asked.task, work).await?),
    }
    git.make_durable().await?;
    present.saved = Some(work.clone());
    Ok(present)
}

/// A ref that may hold something of an earlier call: that stays reachable beside it.
async fn put_ref(git: &Git, name: &str, work: &Oid) -> Result<(), GitError> {
    for n in 1..1000 {
        let name = if n == 1 { name.to_owned() } else { format!("{name}-{n}") };
        match git.ref_value(&name).await? {
            Some(held) if held == *work => return Ok(()),
            Some(held) if !git.is_ancestor(&held, work).await? => continue,
            old => {
                let change = RefChange { name, old, new: Some(work.clone()) };
                // Where somebody else was quicker the name is theirs.
                if git.update_refs(&[change], "swarm: work saved").await? == RefOutcome::Changed {
                    return Ok(());
                }
            }
        }
    }
    Err(GitError::Unreadable {
        command: "update-ref".into(), what: format!("all names {name}-… are taken")
    })
}

/// A rebase or a merge that the killed agent had begun would go on from commits that are not there any more.
fn end_what_is_under_way(git: &Git, task: &TaskId, record: &Path) -> Result<(), GitError> {
    let found: Vec<&str> =
        UNDER_WAY.into_iter().filter(|name| std::fs::symlink_metadata(record.join(name)).is_ok()).collect();
    if found.is_empty() {
        return Ok(());
    }
    let aside = record.join("swarm-under-way");
    std::fs::create_dir_all(&aside).map_err(GitError::io("make the folder", &aside))?;
    for name in found {
        let moved = std::fs::rename(record.join(name), aside.join(name));
        moved.map_err(GitError::io("move", record.join(name)))?;
    }
    move_to_trash(git, &format!("{task}-record-under-way"), &aside).map(drop)
}

/// The marker knows where the task's commits begin; making a worktree asks it.
fn set_base(
    git: &Git,
    asked: &Restore<'_>,
    path: &Path,
    marker: Option<WorktreeMarker>,
) -> Result<(), GitError> {
    let marker = match (marker, asked.base) {
        (Some(marker), Some(base)) if marker.base != *base => WorktreeMarker { base: base.clone(), ..marker },
        (Some(_), _) => return Ok(()),
        (None, base) => WorktreeMarker {
            repo_id: git.repo_id()?,
            task: asked.task.clone(),
            path: path.to_owned(),
            base: base.unwrap_or(asked.tip).clone(),
            state: MarkerState::Making,
            record: None,
        },
    };
    write_marker(&marker_path(git, asked.task), &marker)
}

/// `Some` when the branch is somewhere else by now.
async fn move_branch(
    git: &Git,
    asked: &Restore<'_>,
    full: &str,
    record: Option<&PathBuf>,
    now: Option<Oid>,
) -> Result<Option<Option<Oid>>, GitError> {
    if now.as_ref() == Some(asked.tip) {
        return Ok(None);
    }
    if let Some(now) = &now {
        tips::note_ours(git, asked.task, record.map(PathBuf::as_path), now, asked.tip)?;
    }
    let change = RefChange { name: full.to_owned(), old: now, new: Some(asked.tip.clone()) };
    match git.update_refs(&[change], "swarm: worktree set back").await? {
        RefOutcome::Changed => Ok(None),
        RefOutcome::Lost { now, .. } => Ok(Some(now)),
    }
}

/// The files of the saved commit, and an index that shows the tip. `seen`: what lies there, saved; none: the worktree
/// has just been made.
async fn put_files(
    git: &Git,
    asked: &Restore<'_>,
    place: &Prepared,
    seen: Option<Exact>,
) -> Result<(), GitError> {
    let path = &place.path;
    let tip_tree = git.tree_of(asked.tip).await?;
    let target = match asked.dirty {
        Some(dirty) => git.tree_of(dirty).await?,
        None => tip_tree.clone(),
    };
    let seen = match seen {
        Some(seen) => seen,
        None => snapshot_exact(git, path, asked.task, asked.tip).await?,
    };
    let index = PrivateIndex::take(git, asked.task.as_str()).await?;
    let way = Way { seen: &seen, target: &target, tip: &tip_tree };
    if let Err(error) = lead(git, asked.task, &index, path, &way).await {
        index.forget();
        return Err(error);
    }
    if target == tip_tree {
        return git.install_index(&place.record, &index, path).await;
    }
    let own = PrivateIndex::take(git, &format!(".own-{}", asked.task)).await?;
    index.copy_to(&own)?;
    own.enter(git, path, &git.changes(&target, &tip_tree).await?).await?;
    git.install_index(&place.record, &own, path).await?;
    own.forget();
    Ok(())
}
