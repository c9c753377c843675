//! The real disk with a bad day: every call goes through, but for the faults that are switched on.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use swarm_ledger::{Open, RealFs, Vfs, VfsFile};

#[derive(Default)]
pub struct Faults {
    /// Writes of the ledger find no room, and none can be reserved.
    pub full: AtomicBool,
    /// The ledger can only be read.
    pub read_only: AtomicBool,
    pub sync_fails: AtomicBool,
    pub syncs: AtomicU64,
}

#[derive(Clone)]
pub struct BadDisk(pub Arc<Faults>);

struct BadFile {
    file: Arc<dyn VfsFile>,
    faults: Arc<Faults>,
    ledger: bool,
}

impl Vfs for BadDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        let ledger = path.extension().is_some_and(|ext| ext == "jsonl");
        if ledger && how != Open::Read && self.0.read_only.load(SeqCst) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Arc::new(BadFile { file: RealFs.open(path, how)?, faults: self.0.clone(), ledger }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealFs.remove_file(path)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        RealFs.sync_dir(dir)
    }
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        RealFs.create_dir_all(dir)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        RealFs.list(dir)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        RealFs.exists(path)
    }
}

impl BadFile {
    fn room(&self) -> io::Result<()> {
        if self.ledger && self.faults.full.load(SeqCst) {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }
}

impl VfsFile for BadFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.room()?;
        self.file.write_at(buf, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.faults.syncs.fetch_add(1, SeqCst);
        if self.ledger && self.faults.sync_fails.load(SeqCst) {
            return Err(io::Error::other("the device refused the write"));
        }
        self.file.sync_data()
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn reserve(&self, end: u64) -> io::Result<()> {
        self.room()?;
        self.file.reserve(end)
    }
    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }
    fn lock(&self) -> io::Result<()> {
        self.file.lock()
    }
    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
    fn identity(&self) -> io::Result<(u64, u64)> {
        self.file.identity()
    }
    fn drop_cached(&self, offset: u64) -> io::Result<()> {
        self.file.drop_cached(offset)
    }
}
