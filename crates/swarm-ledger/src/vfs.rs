//! The disk as the ledger sees it: few calls, each with the durability it really has.
//!
//! The ledger is generic over this trait so that the simulator can put a hostile disk under the
//! very code that ships. A method promises no more than the system call behind it: a write is not
//! durable before `sync_data`, a name (create, rename, remove) not before `sync_dir`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// Must exist; reading only.
    Read,
    /// Must exist; reading and writing.
    Write,
    /// Made if missing; reading and writing.
    Create,
    /// Must not exist yet; reading and writing.
    CreateNew,
}

/// A file system.
pub trait Vfs: Send + Sync + 'static {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names inside `dir` durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes a directory and its parents; an existing one is fine.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Names inside a directory, sorted; a missing directory is `NotFound`.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    fn exists(&self, path: &Path) -> io::Result<bool>;
}

// A length may fail here, so "is it empty" would only hide the question of what a failure means.
#[allow(clippy::len_without_is_empty)]
/// An open file. Positioned reads and writes only, so that a handle has no hidden state.
pub trait VfsFile: Send + Sync {
    /// Reads up to `buf.len()` bytes at `offset`; 0 at the end.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some of `buf` at `offset` (may be short).
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize>;
    fn sync_data(&self) -> io::Result<()>;
    fn len(&self) -> io::Result<u64>;
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Reserves room up to `end` without changing the length (`fallocate` with KEEP_SIZE).
    /// `Unsupported` where the file system cannot.
    fn reserve(&self, end: u64) -> io::Result<()>;
    /// Takes the exclusive lock if it is free: true when taken. Freed when the last handle is dropped.
    fn try_lock(&self) -> io::Result<bool>;
    /// Waits for the exclusive lock.
    fn lock(&self) -> io::Result<()>;
    fn unlock(&self) -> io::Result<()>;
    /// Identity of the file behind the handle (device, inode), to notice a replaced file.
    fn identity(&self) -> io::Result<(u64, u64)>;
    /// Lets go of cached pages from `offset` on, so that the next read shows what the device has.
    ///
    /// After a failed sync the cache may hold bytes the device refused, marked clean: a later sync
    /// answers "fine" and a reader sees them until the machine restarts. A disk without such a
    /// cache has nothing to do here.
    fn drop_cached(&self, _offset: u64) -> io::Result<()> {
        Ok(())
    }
}
