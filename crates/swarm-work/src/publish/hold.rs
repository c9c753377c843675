//! A hold on a person's checkout: git's own `index.lock`, made so that it can be proven ours.
//!
//! Our file in the common git directory is locked with flock by us and, as their standard input, by all
//! git processes we start: whoever gets that lock knows that the earlier holder and its children are gone.
//! `index.lock` is a hard link to it: whoever compares the inodes knows whose lock it is.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use super::{Intent, WaitReason};
use crate::worktree::checkouts_of_people;
use swarm_git::{
    Checkout, Git, GitError, lock_within, make_own_folder, read_marker, remove_marker, write_marker,
};
use swarm_process::Input;

/// How long the git of a coordinator that died may go on before we say that the checkout is busy.
const PREDECESSOR_LIMIT: Duration = Duration::from_secs(30);

const NOTE: &str = "Swarm holds this lock while it brings your checkout up to date with its branch.\n\
    If no swarm is running it was killed in the middle: `swarm run` finishes the work and removes the lock.\n";

/// What the record on disk says about a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Full name of the branch.
    pub branch: String,
    pub git_dir: PathBuf,
    pub old: Oid,
    pub new: Oid,
    /// False: no file has been touched yet.
    pub writing: bool,
}

#[derive(Debug)]
pub(super) struct Hold {
    pub checkout: Checkout,
    pub record: Record,
    record_path: PathBuf,
    ours: File,
    pub index_lock: PathBuf,
    /// The index that git works on; becomes the checkout's own when all files are written.
    pub next_index: PathBuf,
}

pub(super) enum Taken {
    Held(Hold),
    Busy(WaitReason),
}

fn dir_of(git: &Git) -> PathBuf {
    git.swarm_dir().join("publishing")
}

/// Checkouts on which an earlier call has left a record.
pub(super) fn left_on_record(git: &Git) -> Vec<(Checkout, Record)> {
    let mut left = Vec::new();
    for checkout in checkouts_of_people(git) {
        if let Some(record) = read_marker::<Record>(&record_path(git, &checkout)) {
            left.push((checkout, record));
        }
    }
    left
}

fn record_path(git: &Git, checkout: &Checkout) -> PathBuf {
    dir_of(git).join(format!("{}.json", name_of(checkout)))
}

fn name_of(checkout: &Checkout) -> String {
    match checkout.git_dir.file_name() {
        Some(name) if !checkout.is_main => format!("linked-{}", name.to_string_lossy()),
        _ => "main".into(),
    }
}

pub(super) async fn take(git: &Git, checkout: Checkout, intent: &Intent) -> Result<Taken, GitError> {
    let record = Record {
        branch: format!("refs/heads/{}", intent.trunk),
        git_dir: checkout.git_dir.clone(),
        old: intent.old.clone(),
        new: intent.new.clone(),
        writing: false,
    };
    take_as(git, checkout, record).await
}

/// Takes the hold with this record: a new one, or the one an earlier call left.
pub(super) async fn take_as(git: &Git, checkout: Checkout, record: Record) -> Result<Taken, GitError> {
    let dir = dir_of(git);
    make_own_folder(&dir)?;
    let name = name_of(&checkout);
    let path = dir.join(format!("{name}.hold"));
    let index_lock = checkout.git_dir.join("index.lock");
    let Some(ours) = lock_within(&path, NOTE, PREDECESSOR_LIMIT).await? else {
        return Ok(Taken::Busy(WaitReason::IndexLocked { lock: index_lock }));
    };
    let next_index = dir.join(format!("{name}.index"));
    // We alone have the flock: what an earlier git left beside our index is nobody's.
    let _ = std::fs::remove_file(dir.join(format!("{name}.index.lock")));
    // The record first: a lock without one could not be proven ours after a power cut.
    write_marker(&record_path(git, &checkout), &record)?;
    match std::fs::hard_link(&path, &index_lock) {
        Ok(()) => {}
        Err(_) if is_same_file(&ours, &index_lock) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // A record that says `writing` must outlive this: files may be half written.
            if !record.writing {
                remove_marker(&record_path(git, &checkout))?;
            }
            return Ok(Taken::Busy(WaitReason::IndexLocked { lock: index_lock }));
        }
        Err(error) => {
            remove_marker(&record_path(git, &checkout))?;
            return Err(GitError::io("lock", &index_lock)(error));
        }
    }
    let record_path = record_path(git, &checkout);
    Ok(Taken::Held(Hold { checkout, record, record_path, ours, index_lock, next_index }))
}

fn is_same_file(ours: &File, other: &Path) -> bool {
    match (ours.metadata(), std::fs::symlink_metadata(other)) {
        (Ok(a), Ok(b)) => a.ino() == b.ino() && a.dev() == b.dev(),
        _ => false,
    }
}

impl Hold {
    /// Whether `index.lock` is still our link: a person may have removed it, as git advises.
    pub fn is_ours(&self) -> bool {
        is_same_file(&self.ours, &self.index_lock)
    }

    /// Something for a git process to keep open: as long as it lives the hold is not free.
    pub fn sign_of_life(&self) -> Result<Input, GitError> {
        Ok(Input::File(
            self.ours.try_clone().map_err(GitError::io("duplicate a handle of", &self.index_lock))?,
        ))
    }

    /// From here on files may be half written; said on disk first.
    pub fn begin_writing(&mut self) -> Result<(), GitError> {
        self.record.writing = true;
        write_marker(&self.record_path, &self.record)
    }

    /// A fresh copy of the checkout's index to work on.
    pub fn copy_index(&self) -> Result<(), GitError> {
        let from = self.checkout.git_dir.join("index");
        let copied = (|| {
            std::fs::copy(&from, &self.next_index)?;
            // git compares the index's own time with those of the files to know which it cannot trust.
            let modified = std::fs::metadata(&from)?.modified()?;
            File::options().write(true).open(&self.next_index)?.set_modified(modified)
        })();
        match copied {
            // No index at all: everything is staged as deleted, which the look will say.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let _ = std::fs::remove_file(&self.next_index);
                Ok(())
            }
            other => other.map_err(GitError::io("copy", &from)),
        }
    }

    /// Makes the next index the checkout's own. Only under our lock.
    pub fn install_index(&self) -> Result<(), GitError> {
        if !self.is_ours() {
            return Err(GitError::io("keep", &self.index_lock)(std::io::Error::other(
                "somebody has removed our lock",
            )));
        }
        let index = self.checkout.git_dir.join("index");
        std::fs::rename(&self.next_index, &index).map_err(GitError::io("write", &index))
    }

    /// Opens the checkout for its person again, and keeps on record that there is something to settle.
    pub fn let_go(self) -> Result<(), GitError> {
        if self.is_ours() {
            std::fs::remove_file(&self.index_lock).map_err(GitError::io("remove", &self.index_lock))?;
        }
        Ok(())
    }

    /// Gives the checkout back. Each step leaves something the next call knows how to end: first the
    /// record says that no file is half written any more (so that what the person does from here on is
    /// theirs), then the lock goes, then the record.
    pub fn release(mut self) -> Result<(), GitError> {
        if self.record.writing {
            self.record.writing = false;
            write_marker(&self.record_path, &self.record)?;
        }
        if self.is_ours() {
            std::fs::remove_file(&self.index_lock).map_err(GitError::io("remove", &self.index_lock))?;
        }
        let _ = std::fs::remove_file(&self.next_index);
        remove_marker(&self.record_path)
    }
}
