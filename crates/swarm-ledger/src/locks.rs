//! The two locks: who may write, now and for life.
//!
//! `door.lock` is held for moments, `owner.lock` by the coordinator for its whole life. To write:
//! take the door, try the owner's lock. With both, recover the ledger for writing (which syncs it and
//! reads its tail) and go on; a coordinator then keeps the owner's lock and opens the door again. If
//! the owner's lock is taken there is a coordinator to ask instead.
//!
//! The files are never unlinked: a lock on a file that has lost its name keeps nobody out. Should
//! somebody else remove or replace one, [`WriterLocks::still_ours`] tells. Where the file system has no locks, or gives
//! the same one to everybody, nobody writes at all.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::claim::Claim;
use crate::owner::OwnerInfo;
use crate::vfs::{Open, Vfs, VfsFile};

/// How often a lock file that was replaced between opening and locking is opened again.
const REPLACED_TRIES: u32 = 10;

/// How often somebody who waits looks whether the holder can come to its end at all.
const LOOK_AT_HOLDER_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("Cannot get the ledger's door lock within {} s{}", waited.as_secs(), held_by(holder))]
    DoorHeld { waited: Duration, holder: Option<OwnerInfo> },
    #[error("The lock file {} keeps being replaced", .0.display())]
    Replaced(PathBuf),
    #[error("The file system keeps nobody out of a locked file: {}", .0.display())]
    KeepsNobodyOut(PathBuf),
    #[error("Cannot lock {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

fn held_by(holder: &Option<OwnerInfo>) -> String {
    holder.as_ref().map(|info| format!(": held by {info}")).unwrap_or_default()
}

pub enum Acquired {
    /// Both locks are ours.
    Writer(WriterLocks),
    /// Somebody owns the ledger: ask them.
    Busy(Option<OwnerInfo>),
}

/// Door and owner's lock, for one command.
pub struct WriterLocks {
    // Dropped in this order: whoever finds the door open must not find the owner's lock still held
    // by a command that is over.
    owner: LockFile,
    door: LockFile,
}

/// The owner's lock alone, for the coordinator's life.
pub struct Ownership {
    owner: LockFile,
}

struct LockFile {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    file: Arc<dyn VfsFile>,
}

/// Waits for the door at most `wait`, then tries the owner's lock once.
pub fn acquire_for_write(
    vfs: &Arc<dyn Vfs>,
    run_dir: &Path,
    me: &OwnerInfo,
    wait: Duration,
) -> Result<Acquired, LockError> {
    vfs.create_dir_all(run_dir).map_err(|source| LockError::Io { path: run_dir.to_path_buf(), source })?;
    let owner_path = run_dir.join("owner.lock");
    let holder = || vfs.open(&owner_path, Open::Read).ok().and_then(|file| OwnerInfo::read(&*file));
    let began = Instant::now();
    // Whoever was stopped by a signal does not come to its end, however long we wait.
    let in_vain = || holder().is_some_and(|holder| holder.is_stopped());
    let Some(door) = lock(vfs, &run_dir.join("door.lock"), wait, &in_vain)? else {
        return Err(LockError::DoorHeld { waited: began.elapsed(), holder: holder() });
    };
    match lock(vfs, &owner_path, Duration::ZERO, &|| false)? {
        Some(owner) => {
            // For people only: a lock that cannot be described is still a lock.
            let _ = me.write(&*owner.file);
            Ok(Acquired::Writer(WriterLocks { owner, door }))
        }
        None => Ok(Acquired::Busy(holder())),
    }
}

impl WriterLocks {
    /// The coordinator keeps the owner's lock and opens the door.
    pub fn become_owner(self) -> Ownership {
        let Self { owner, door } = self;
        drop(door);
        Ownership { owner }
    }

    /// For whoever acts in the owner's name: asks whether the owner's lock is still ours, now and as its holder's for life.
    pub fn claim(&self) -> io::Result<Claim> {
        self.owner.claim()
    }

    /// Both paths still lead to the files we hold.
    pub fn still_ours(&self) -> io::Result<bool> {
        Ok(self.owner.is_in_place()? && self.door.is_in_place()?)
    }
}

impl Ownership {
    /// For whoever acts in the owner's name.
    pub fn claim(&self) -> io::Result<Claim> {
        self.owner.claim()
    }

    /// The path still leads to the file we hold. If not, somebody else may own the ledger: stop writing.
    pub fn still_ours(&self) -> io::Result<bool> {
        self.owner.is_in_place()
    }
}

impl LockFile {
    fn claim(&self) -> io::Result<Claim> {
        Ok(Claim::new(self.vfs.clone(), self.path.clone(), self.file.identity()?))
    }

    fn is_in_place(&self) -> io::Result<bool> {
        match self.vfs.open(&self.path, Open::Read) {
            Ok(there) => Ok(there.identity()? == self.file.identity()?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Closing frees it too; this frees it even if a clone of the handle is still alive.
        let _ = self.file.unlock();
    }
}

/// The lock, or none if it is held for longer than `wait`, or `in_vain` says that waiting does not help.
fn lock(
    vfs: &Arc<dyn Vfs>,
    path: &Path,
    wait: Duration,
    in_vain: &dyn Fn() -> bool,
) -> Result<Option<LockFile>, LockError> {
    let failed = |source| LockError::Io { path: path.to_path_buf(), source };
    for _ in 0..REPLACED_TRIES {
        let file = vfs.open(path, Open::Create).map_err(failed)?;
        match lock_within(&file, wait, in_vain) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) if has_no_locks(&error) => return Err(LockError::KeepsNobodyOut(path.to_path_buf())),
            Err(error) => return Err(failed(error)),
        }
        let lock = LockFile { vfs: vfs.clone(), path: path.to_path_buf(), file };
        if !lock.is_in_place().map_err(failed)? {
            continue;
        }
        // Asked at once after: a file that was replaced in between could be locked by anybody.
        if is_free_to_another(vfs, path).map_err(failed)? && lock.is_in_place().map_err(failed)? {
            return Err(LockError::KeepsNobodyOut(path.to_path_buf()));
        }
        return Ok(Some(lock));
    }
    Err(LockError::Replaced(path.to_path_buf()))
}

/// Some file systems answer that a lock is taken, and give it to the next one as well.
fn is_free_to_another(vfs: &Arc<dyn Vfs>, path: &Path) -> io::Result<bool> {
    // Created as by whoever locks it: some file systems lock only what can be written.
    let another = vfs.open(path, Open::Create)?;
    let taken = another.try_lock()?;
    if taken {
        another.unlock()?;
    }
    Ok(taken)
}

/// Others say it.
fn has_no_locks(error: &io::Error) -> bool {
    let no_lock = rustix::io::Errno::NOLCK.raw_os_error();
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(no_lock)
}

/// Whether a lock in this folder keeps others out, tried on a file of its own.
pub fn locks_keep_out(vfs: &Arc<dyn Vfs>, dir: &Path) -> Result<bool, LockError> {
    let path = dir.join("probe.lock");
    let tried = lock(vfs, &path, Duration::ZERO, &|| false);
    // Whoever finds it locked by somebody who tries the same knows as much.
    let removed = if matches!(tried, Ok(None)) { Ok(()) } else { vfs.remove_file(&path) };
    match tried {
        Err(LockError::KeepsNobodyOut(_)) => Ok(false),
        Err(error) => Err(error),
        Ok(_) => removed.map(|()| true).map_err(|source| LockError::Io { path, source }),
    }
}

/// A blocking lock is fair but cannot be given up, so a thread waits for it. If it comes too late
/// nobody listens any more, and the thread lets it go again.
fn lock_within(file: &Arc<dyn VfsFile>, wait: Duration, in_vain: &dyn Fn() -> bool) -> io::Result<bool> {
    if file.try_lock()? {
        return Ok(true);
    }
    if wait.is_zero() {
        return Ok(false);
    }
    let (answer, answered) = mpsc::channel();
    let theirs = file.clone();
    std::thread::Builder::new().name("lock".into()).spawn(move || {
        let locked = theirs.lock();
        if answer.send(locked).is_err() {
            let _ = theirs.unlock();
        }
    })?;
    let end = Instant::now() + wait;
    loop {
        let slice = end.saturating_duration_since(Instant::now()).min(LOOK_AT_HOLDER_EVERY);
        match answered.recv_timeout(slice) {
            Ok(locked) => return locked.map(|()| true),
            Err(_) if Instant::now() >= end || in_vain() => return Ok(false),
            Err(_) => {}
        }
    }
}
