//! The real disk, with its syncs counted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swarm_ledger::{Open, RealFs, Vfs, VfsFile};

#[derive(Clone, Default)]
pub struct CountingFs {
    syncs: Arc<AtomicU64>,
}

struct CountingFile {
    file: Arc<dyn VfsFile>,
    syncs: Arc<AtomicU64>,
}

impl CountingFs {
    pub fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::SeqCst)
    }
}

impl Vfs for CountingFs {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        let file = RealFs.open(path, how)?;
        Ok(Arc::new(CountingFile { file, syncs: self.syncs.clone() }))
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

impl VfsFile for CountingFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(buf, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.file.sync_data()
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn reserve(&self, end: u64) -> io::Result<()> {
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
