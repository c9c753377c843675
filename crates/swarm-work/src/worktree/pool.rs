//! Used worktrees, kept for the next tasks: most files of the next one are there already.
//!
//! Given up by proof, a worktree is only renamed into `<worktrees>/.pool/<n>` and its record in git is thrown
//! away. Later, when nothing is urgent, `tend` makes it show its last commit exactly and proves it with an index
//! of our own. What cannot be proven goes to the trash. `take` renames a proven one to its new place, where
//! it gets a record that nobody has written in.
//!
//! Caches of builds (`node_modules`, `target`) stay: they are what makes the next one cheap. An agent may have put
//! something into them, so they are handed on only within one plan, and never to the worktree in which merged
//! work is verified.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};

use super::setup;
use super::tree_walk::{Step, names, walk};
use crate::remove::{About, move_to_trash, move_with_note};
use swarm_git::{Git, GitError, PrivateIndex, path_of, read_marker, remove_marker, write_marker};

/// How worktrees are kept for the next tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRule {
    /// The folder that all worktrees are in.
    pub dir: PathBuf,
    pub max: u32,
    /// Something that is the same as long as the plan is: caches of another plan are not taken over.
    pub plan: String,
    /// Names of ignored files and folders that may stay, and may go.
    pub disposable: Vec<String>,
    /// False: ignored files go, too, and every worktree is set up anew.
    pub keep_caches: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PoolMarker {
    repo_id: String,
    path: PathBuf,
    plan: String,
    /// What its files show, or shall.
    commit: Oid,
    state: PoolState,
    /// When everything of value in it was begun to be looked at, in nanoseconds since 1970. None: an older version.
    #[serde(default)]
    looked_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum PoolState {
    /// As a task has left it.
    Given,
    /// Proven to be the commit and nothing else.
    Settled,
}

/// What `tend` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tended {
    pub settled: u32,
    /// Could not be proven clean, or were too many.
    pub trashed: u32,
}

fn marker_path(git: &Git, slot: u32) -> PathBuf {
    git.swarm_dir().join("pool").join(format!("{slot}.json"))
}

fn index_name(slot: u32) -> String {
    format!(".pool-{slot}")
}

fn pool_dir(dir: &Path) -> PathBuf {
    dir.join(".pool")
}

/// Slots in use, lowest first.
fn slots(git: &Git) -> Vec<(u32, PoolMarker)> {
    let entries = std::fs::read_dir(git.swarm_dir().join("pool")).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| {
        let path = entry.path();
        let is_marker = path.extension().is_some_and(|end| end == "json");
        if is_marker { path.file_stem()?.to_str()?.parse().ok() } else { None }
    });
    let mut found: Vec<(u32, PoolMarker)> =
        numbers.filter_map(|slot| Some((slot, read_marker(&marker_path(git, slot))?))).collect();
    found.sort_by_key(|(slot, _)| *slot);
    found
}

/// The folders in the pool, and whether each is ready to be taken.
pub fn contents(git: &Git) -> Vec<(PathBuf, bool)> {
    let all = slots(git).into_iter().filter(|(_, marker)| marker.path.is_dir());
    all.map(|(_, marker)| (marker.path, marker.state == PoolState::Settled)).collect()
}

/// Renames a worktree that is proven to hold nothing of value into the pool. False when there is no room.
/// Only with the task's lock. `commit` is what its branch was at; what is newer than `looked_at` nobody has seen.
pub(crate) async fn put(
    git: &Git,
    rule: &PoolRule,
    task: &TaskId,
    path: &Path,
    (commit, looked_at): (&Oid, SystemTime),
) -> Result<bool, GitError> {
    let _one_at_a_time = git.administration().await?;
    let taken: Vec<u32> = slots(git).into_iter().map(|(slot, _)| slot).collect();
    let dir = pool_dir(&rule.dir);
    std::fs::create_dir_all(&dir).map_err(GitError::io("make the folder", &dir))?;
    let dir = std::fs::canonicalize(&dir).map_err(GitError::io("find", &dir))?;
    let is_free =
        |slot: &u32| !taken.contains(slot) && std::fs::symlink_metadata(dir.join(slot.to_string())).is_err();
    let Some(slot) = (0..rule.max).find(is_free) else { return Ok(false) };
    let place = dir.join(slot.to_string());
    let marker = PoolMarker {
        repo_id: git.repo_id()?,
        path: place.clone(),
        plan: rule.plan.clone(),
        commit: commit.clone(),
        state: PoolState::Given,
        looked_at: nanos(looked_at),
    };
    // Died after this line: a marker without a folder, which `tend` forgets.
    write_marker(&marker_path(git, slot), &marker)?;
    let (from, to) =
        (PrivateIndex::take(git, task.as_str()).await?, PrivateIndex::take(git, &index_name(slot)).await?);
    to.forget();
    std::fs::rename(path, &place).map_err(GitError::io("move into the pool", path))?;
    // Without it everything is written again, which is slow but right.
    let _ = std::fs::rename(&from.file, &to.file);
    setup::rename(git, task.as_str(), &index_name(slot));
    Ok(true)
}

/// Renames a proven worktree to `path`, where nothing may be, with what we know of its files. False when there
/// is none to be had.
pub(crate) async fn take(
    git: &Git,
    rule: &PoolRule,
    task: &TaskId,
    path: &Path,
    index: &PrivateIndex,
) -> Result<bool, GitError> {
    let _one_at_a_time = git.administration().await?;
    let repo_id = git.repo_id()?;
    for (slot, marker) in slots(git) {
        let fits =
            marker.state == PoolState::Settled && marker.repo_id == repo_id && marker.plan == rule.plan;
        if !fits || !marker.path.is_dir() {
            continue;
        }
        let known = PrivateIndex::take(git, &index_name(slot)).await?;
        if std::fs::rename(&marker.path, path).is_err() {
            continue;
        }
        index.forget();
        let _ = std::fs::rename(&known.file, &index.file);
        setup::rename(git, &index_name(slot), task.as_str());
        remove_marker(&marker_path(git, slot))?;
        return Ok(true);
    }
    Ok(false)
}

/// Proves what was given, throws away what is too much or of another plan. Slow; for when nothing is urgent.
pub async fn tend(git: &Git, rule: &PoolRule) -> Result<Tended, GitError> {
    let mut tended = Tended::default();
    for (slot, marker) in slots(git) {
        if !marker.path.is_dir() {
            let _one_at_a_time = git.administration().await?;
            // Between its marker and its folder only a moment under the same lock can have passed.
            if !marker.path.is_dir() {
                remove_marker(&marker_path(git, slot))?;
            }
            continue;
        }
        if unseen(rule, &marker) {
            set_aside(git, slot, &marker).await?;
            tended.trashed += 1;
            continue;
        }
        let stays = slot < rule.max && marker.plan == rule.plan && marker.repo_id == git.repo_id()?;
        let settled = stays
            && match marker.state {
                PoolState::Settled => continue,
                PoolState::Given => settle(git, rule, slot, &marker).await.unwrap_or(false),
            };
        if settled {
            let marker = PoolMarker { state: PoolState::Settled, ..marker };
            write_marker(&marker_path(git, slot), &marker)?;
            tended.settled += 1;
        } else {
            discard(git, slot, &marker).await?;
            tended.trashed += 1;
        }
    }
    Ok(tended)
}

fn nanos(at: SystemTime) -> Option<u64> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// Times that a clock is asked whether it has gone on; its steps are milliseconds.
const ASKED_MAX: u32 = 100;

/// A moment after which every file that is written has a later time. File systems take theirs from a clock that goes in
/// steps, and what is written within one step cannot be told apart.
pub(crate) async fn a_moment_of_its_own() -> SystemTime {
    let now = SystemTime::now();
    for _ in 0..ASKED_MAX {
        let coarse = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        let since = std::time::Duration::new(
            u64::try_from(coarse.tv_sec).unwrap_or(0),
            u32::try_from(coarse.tv_nsec).unwrap_or(0),
        );
        if SystemTime::UNIX_EPOCH + since > now {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    now
}

/// Whether somebody wrote there while it was given up, after it had been looked at: a person may not have known.
fn unseen(rule: &PoolRule, marker: &PoolMarker) -> bool {
    let Some(looked_at) = marker.looked_at.filter(|_| marker.state == PoolState::Given) else { return false };
    let caches = names(&rule.disposable);
    let mut newer = false;
    walk(&marker.path, |path, meta| {
        if path.file_name().is_some_and(|name| caches.is_match(name)) {
            return Step::Past;
        }
        let changed = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
        newer = !meta.is_dir() && u64::try_from(changed).unwrap_or(0) > looked_at;
        if newer { Step::End } else { Step::Into }
    });
    newer
}

/// Into the trash as it is, and for good: it may hold what is nowhere else.
async fn set_aside(git: &Git, slot: u32, marker: &PoolMarker) -> Result<(), GitError> {
    let name = format!("pool-{slot}");
    let about = About { task: name.clone(), tip: Some(marker.commit.clone()), keep: true };
    let one_at_a_time = git.administration().await?;
    move_with_note(git, &name, &marker.path, &about)?;
    drop(one_at_a_time);
    discard(git, slot, marker).await
}

async fn discard(git: &Git, slot: u32, marker: &PoolMarker) -> Result<(), GitError> {
    let _one_at_a_time = git.administration().await?;
    if marker.path.is_dir() {
        move_to_trash(git, &format!("pool-{slot}"), &marker.path)?;
    }
    PrivateIndex::take(git, &index_name(slot)).await?.forget();
    setup::forget(git, &index_name(slot));
    remove_marker(&marker_path(git, slot))
}

/// Makes the folder show its commit exactly. True when that is proven.
async fn settle(git: &Git, rule: &PoolRule, slot: u32, marker: &PoolMarker) -> Result<bool, GitError> {
    let path = &marker.path;
    let index = PrivateIndex::take(git, &index_name(slot)).await?;
    // It pointed to a record that is gone. A folder there would be a repository, and was a reason to keep all.
    match std::fs::remove_file(path.join(".git")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Ok(false),
        _ => {}
    }
    index.fill(git, path, &marker.commit).await?;
    let call = |args: &[&str]| index.call(git, path, args);
    let caches = if rule.keep_caches { rule.disposable.clone() } else { Vec::new() };
    // Most tasks leave nothing behind, and a look costs less than cleaning.
    if !only_caches_left(&index, git, path, &caches).await? {
        call(&["clean", "--quiet", "-ffd"]).ok().await?;
        let mut all = call(&["clean", "--quiet", "-ffdx"]);
        for name in caches.iter().filter(|name| !name.starts_with(['!', '#'])) {
            all = all.arg("-e").arg(name);
        }
        all.ok().await?;
        if !only_caches_left(&index, git, path, &caches).await? {
            return Ok(false);
        }
    }
    // Exit code 1: a file is not what the commit has.
    if call(&["update-index", "-q", "--refresh", "--ignore-submodules"]).if_yes().await?.is_none() {
        return Ok(false);
    }
    let top = path.clone();
    let plain = tokio::task::spawn_blocking(move || is_plain(&top, &names(&caches))).await;
    Ok(plain.unwrap_or(false))
}

/// Whether nothing but these caches lies beside the files of the commit.
async fn only_caches_left(
    index: &PrivateIndex,
    git: &Git,
    path: &Path,
    caches: &[String],
) -> Result<bool, GitError> {
    let listed = index.call(git, path, &["ls-files", "-z", "--others", "--directory"]);
    let left = listed.long_list().ok().await?;
    let may_stay = names(caches);
    let stays = |name: &[u8]| {
        let path = path_of(name.strip_suffix(b"/").unwrap_or(name));
        path.components().any(|part| may_stay.is_match(Path::new(part.as_os_str())))
    };
    Ok(left.split(|b| *b == 0).filter(|name| !name.is_empty()).all(stays))
}

/// Whether there is nothing that git does not see: pipes, sockets, devices, and files that have a second name
/// elsewhere, through which they could be changed later.
fn is_plain(top: &Path, caches: &globset::GlobSet) -> bool {
    let mut plain = true;
    let whole = walk(top, |path, meta| {
        let kind = meta.file_type();
        if path.file_name().is_some_and(|name| caches.is_match(Path::new(name))) {
            return Step::Past;
        }
        let special = kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device();
        if special || (kind.is_file() && meta.nlink() > 1) {
            plain = false;
            return Step::End;
        }
        Step::Into
    });
    whole && plain
}
