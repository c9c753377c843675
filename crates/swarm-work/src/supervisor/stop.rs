//! The end of a run for good: daemon and tree proven gone, work saved, files taken away.
//!
//! The lock file goes too, last and while we hold it. That is safe because a daemon neither creates
//! the lock nor begins without its spec, and the spec was put aside before we looked at the lock: one
//! that comes up late finds no spec (or no lock) and ends without having started anything.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use swarm_protocol::channel::ExitRecord;
use swarm_protocol::ids::{Oid, TaskId};
use tokio::time::Instant;

use super::end::end_left_behind;
use super::owner::{Foreign, foreign};
use super::watch::{free_lock, free_of_life, let_go, process_of};
use crate::daemon::RunFiles;
use crate::hand_in::{hand_in, tell_not_taken};
use crate::rescue::save_wip;
use crate::shared_tree::{Visitor, leave};
use crate::worktree::{MarkerState, marker_of, newest_whole};
use swarm_git::{Git, GitError};
use swarm_process::sandbox::{remove_tmp, tmp_of};
use swarm_process::{boot_id, complain};

/// What the daemon gets on top of the grace of its program: to force the rest and to save the work.
const DAEMON_EXTRA: Duration = Duration::from_secs(5);
/// A killed process is gone at once unless the kernel holds it.
const KILL_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Whose uncommitted work is to be saved, and where.
#[derive(Debug, Clone)]
pub struct Rescue {
    pub task: TaskId,
    pub worktree: PathBuf,
    /// The largest file that is taken from the agent's own repository.
    pub max_file_bytes: u64,
}

#[derive(Debug)]
pub struct Stopped {
    /// The commit that holds what was not committed; none when there was nothing.
    pub wip: Option<Oid>,
    /// The daemon's last word, if it had one.
    pub last: Option<ExitRecord>,
}

#[derive(Debug, thiserror::Error)]
pub enum StopError {
    #[error("{run} cannot be ended from here: {owner}")]
    Elsewhere { run: String, owner: Foreign },
    #[error("the daemon of {run} does not end: process {pid:?} holds its lock")]
    DaemonStays { run: String, pid: Option<u32> },
    #[error("processes of {run} cannot be ended: {pids:?}")]
    ProcessesStay { run: String, pids: Vec<u32> },
    #[error("the unfinished work of {run} cannot be saved: {source}")]
    NotSaved { run: String, source: GitError },
    #[error("cannot remove {}: {source}", path.display())]
    NotRemoved { path: PathBuf, source: std::io::Error },
}

/// Ends the run. `grace` is what its program gets between TERM and KILL. Asked twice it finds nothing left to do.
pub async fn stop_run(
    git: &Git,
    files: &RunFiles,
    nonce: &str,
    rescue: Option<&Rescue>,
    grace: Duration,
) -> Result<Stopped, StopError> {
    let owner = foreign(files, &git.main_checkout);
    if let Some(owner @ Foreign::Elsewhere { .. }) = owner {
        return Err(StopError::Elsewhere { run: files.run.to_string(), owner });
    }
    // First of all, so that nobody begins it again: see above.
    put_aside(&files.spec(), &files.ended_spec())?;
    let lock = end_daemon(files, owner.is_none(), grace).await?;
    let last = files.read_exit().filter(|exit| exit.nonce == nonce);
    // A copied record may be copied with the last word of the original, whose worktree is another one.
    let settled = owner.is_none() && last.as_ref().is_some_and(|last| last.settled);
    // The processes of a copied record are those of the original.
    if owner.is_none() && !settled {
        end_tree(files, nonce, grace).await?;
    }
    if let Some(rescue) = rescue.filter(|_| owner.is_none()) {
        leave_shared(git, files, rescue).await?;
    }
    let wip = match (&last, rescue) {
        (Some(ExitRecord { wip: Some(saved), .. }), _) => Some(saved.clone()),
        // It looked after the last of its processes was gone, and nobody of it can have written since.
        _ if settled => None,
        (_, Some(rescue)) => save(git, files, rescue).await?,
        (_, None) => None,
    };
    // Rubbish of the run. One that cannot be removed must not keep its work from being called ended. That of a copied
    // record is named by the same nonce and is in use: it is the original's.
    if owner.is_none() {
        complain(&format!("remove {}", tmp_of(nonce).display()), remove_tmp(nonce));
    }
    let unreadable = |source| StopError::NotRemoved { path: files.dir.clone(), source };
    for path in files.all_but_the_lock().map_err(unreadable)? {
        remove(&path)?;
    }
    remove(&files.lock())?;
    drop(lock);
    Ok(Stopped { wip, last })
}

/// Comes back with the run's lock in hand: no daemon lives, none can begin.
/// The record of a run that is not ours may name a process that is none of ours to end: there the lock alone counts.
async fn end_daemon(files: &RunFiles, is_ours: bool, grace: Duration) -> Result<Option<File>, StopError> {
    let mut asked = false;
    let patience = Instant::now() + grace + DAEMON_EXTRA;
    let last_moment = patience + KILL_WITHIN;
    loop {
        let free = if is_ours { free_of_life(files) } else { free_lock(files) };
        if let Ok(lock) = free {
            return Ok(lock);
        }
        let now = Instant::now();
        let process = process_of(files);
        if now > last_moment {
            let pid = process.map(|process| process.pid);
            return Err(StopError::DaemonStays { run: files.run.to_string(), pid });
        }
        match process {
            Some(process) if now < patience => {
                // TERM is to a daemon what the order STOP is; one that obeys already is not disturbed.
                if !std::mem::replace(&mut asked, true) {
                    process.signal(Signal::TERM);
                }
                process.wait_gone(patience - now).await;
            }
            Some(process) => {
                process.signal(Signal::KILL);
                process.wait_gone(last_moment - now).await;
            }
            None => {
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            }
        }
        let_go(files).await;
    }
}

async fn end_tree(files: &RunFiles, nonce: &str, grace: Duration) -> Result<(), StopError> {
    // After a restart of the machine nothing of it can be left.
    if files.read_record().is_some_and(|record| Some(record.boot_id) != boot_id()) {
        return Ok(());
    }
    match end_left_behind(files, nonce, grace).await {
        none if none.is_empty() => Ok(()),
        pids => Err(StopError::ProcessesStay { run: files.run.to_string(), pids }),
    }
}

/// Takes what lies in the shared tree to the task's own worktree, where it is saved.
async fn leave_shared(git: &Git, files: &RunFiles, rescue: &Rescue) -> Result<(), StopError> {
    let Rescue { task, worktree, max_file_bytes } = rescue;
    let visitor = Visitor { task, run: &files.run, worktree, max_file_bytes: *max_file_bytes };
    match leave(git, &visitor).await {
        Err(source) if source.is_shortage() => {
            Err(StopError::NotSaved { run: files.run.to_string(), source })
        }
        // It lies there all the same, and is taken before anybody works there for this task. A stop has an end.
        Err(error) => {
            git.notice(Some(task), format!("its files in the shared tree were not taken: {error}"));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

async fn save(git: &Git, files: &RunFiles, rescue: &Rescue) -> Result<Option<Oid>, StopError> {
    let failed = |source| StopError::NotSaved { run: files.run.to_string(), source };
    if !rescue.worktree.is_dir() {
        return Ok(None);
    }
    // Half made: nobody has worked there, and a file that is not there yet has not been deleted.
    let marker = marker_of(git, &rescue.task, &rescue.worktree).map_err(failed)?;
    if marker.is_some_and(|marker| marker.state == MarkerState::Making) {
        return Ok(None);
    }
    // What was committed comes first. Whatever keeps it from that, the files are saved.
    if let Err(error) = hand_in(git, &rescue.task, &rescue.worktree, rescue.max_file_bytes).await {
        // Then the files cannot be saved either. It is asked again.
        if error.is_shortage() {
            return Err(failed(error));
        }
        tell_not_taken(git, &rescue.task, &error);
    }
    let branch = format!("refs/heads/{}", rescue.task.branch());
    let Some(tip) = git.ref_value(&branch).await.map_err(failed)? else { return Ok(None) };
    let save = async |onto: &Oid| save_wip(git, &rescue.worktree, &rescue.task, &files.run, onto).await;
    let error = match save(&tip).await {
        Ok(saved) => return Ok(saved),
        Err(error) => error,
    };
    // The last commits may have lost what is in them (a `git gc --prune=now` beside a commit does that). Their files lie
    // in the worktree all the same, and are saved upon what can be read: a stop has an end.
    let marker = marker_of(git, &rescue.task, &rescue.worktree).map_err(failed)?;
    let whole = match marker {
        Some(marker) => newest_whole(git, &marker).await.map_err(failed)?,
        // Nobody remembers where it began: what a person has checked out can be read.
        None => match git.resolve("HEAD").await.map_err(failed)? {
            Some(head) => head,
            None => return Err(failed(error)),
        },
    };
    match whole == tip {
        true => Err(failed(error)),
        false => save(&whole).await.map_err(failed),
    }
}

fn put_aside(from: &Path, to: &Path) -> Result<(), StopError> {
    match std::fs::rename(from, to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StopError::NotRemoved { path: from.to_owned(), source }),
    }
}

fn remove(path: &Path) -> Result<(), StopError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StopError::NotRemoved { path: path.to_owned(), source }),
    }
}
