//! Whose run it is. A record in our folder may tell of somebody else's processes: the folder was copied while
//! a swarm ran in it, it lies on a disk that another machine uses too, or its ledger was replaced by another one.
//! Such processes are not ours to end.

use std::fmt;
use std::path::{Path, PathBuf};

use super::watch::free_lock;
use crate::daemon::{DaemonSpec, RunFiles};
use swarm_process::boot_id;

/// Somebody else's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Foreign {
    /// The folder was copied; the original is still in its place.
    Copied { from: PathBuf },
    /// Its daemon lives on another machine.
    Elsewhere { host: String },
    /// Of another ledger than ours.
    OtherLedger { id: String },
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // No place of this machine: the sentence may be recorded.
            Self::Copied { .. } => write!(f, "it belongs to the folder that this one was copied from"),
            Self::Elsewhere { host } => write!(f, "its daemon lives on the machine {host}"),
            Self::OtherLedger { id } => {
                write!(f, "it belongs to another plan (ledger {})", id.get(..8).unwrap_or(id))
            }
        }
    }
}

/// None when the run is ours, as far as its files tell.
pub fn foreign(files: &RunFiles, root: &Path) -> Option<Foreign> {
    copied(files, root).or_else(|| elsewhere(files))
}

/// Whether the daemon of a run of ours lives on this machine.
pub fn lives_here(files: &RunFiles, root: &Path) -> bool {
    files.is_alive() && foreign(files, root).is_none()
}

/// The same for a run that the ledger does not know.
pub(super) fn foreign_leftover(files: &RunFiles, root: &Path, ledger: Option<&str>) -> Option<Foreign> {
    foreign(files, root).or_else(|| {
        let id = files.read_record()?.ledger?.id;
        let other = ledger.is_some_and(|ours| ours != id);
        // One that is dead has nothing that could be left alone but files.
        (other && free_lock(files).is_err()).then_some(Foreign::OtherLedger { id })
    })
}

/// Moved is not copied: there the old place has no such run any more.
fn copied(files: &RunFiles, root: &Path) -> Option<Foreign> {
    let spec = DaemonSpec::read(&files.spec()).or_else(|_| DaemonSpec::read(&files.ended_spec())).ok()?;
    if spec.root == root || free_lock(files).is_err() {
        return None;
    }
    let there = RunFiles::new(&spec.swarm_dir(), &files.run);
    let nonce = there.read_record().map(|record| record.nonce);
    let same_folder = is_same(&spec.root, root);
    (!same_folder && nonce.is_some_and(|nonce| nonce == spec.nonce))
        .then_some(Foreign::Copied { from: spec.root })
}

/// Two names of one place: a link, a mount.
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    id(one).is_some() && id(one) == id(other)
}

/// Its lock is held, and not by a process of this machine: the disk is shared.
fn elsewhere(files: &RunFiles) -> Option<Foreign> {
    let record = files.read_record()?;
    let here =
        record.host == swarm_process::host::name() || boot_id().is_none_or(|boot| boot == record.boot_id);
    (!here && free_lock(files).is_err()).then_some(Foreign::Elsewhere { host: record.host })
}
