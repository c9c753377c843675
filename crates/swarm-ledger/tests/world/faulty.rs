//! A disk that refuses what it is told to refuse, over the real one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use swarm_ledger::{Open, RealFs, Vfs, VfsFile};

use super::World;

/// What the disk refuses, for the main file only.
#[derive(Default)]
pub struct Faults {
    /// Bytes that writes may still take; `u64::MAX` is no limit.
    pub room: AtomicU64,
    /// The file can be opened for reading only.
    pub read_only: AtomicBool,
    pub no_reserve: AtomicBool,
    pub sync_fails: AtomicBool,
    pub syncs: AtomicU64,
    /// A test that holds it makes every sync wait.
    pub slow: std::sync::Mutex<()>,
}

struct FaultyFs(Arc<Faults>);

struct FaultyFile(Arc<dyn VfsFile>, Arc<Faults>);

impl Vfs for FaultyFs {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        if self.0.read_only.load(SeqCst) && how != Open::Read {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        let file = RealFs.open(path, how)?;
        let main = path.ends_with(".swarm/plan-ledger.jsonl");
        Ok(if main { Arc::new(FaultyFile(file, self.0.clone())) } else { file })
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

impl VfsFile for FaultyFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let room = self.1.room.load(SeqCst);
        if room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = self.0.write_at(&buf[..buf.len().min(room as usize)], offset)?;
        if room != u64::MAX {
            self.1.room.fetch_sub(written as u64, SeqCst);
        }
        Ok(written)
    }
    fn sync_data(&self) -> io::Result<()> {
        drop(self.1.slow.lock());
        self.1.syncs.fetch_add(1, SeqCst);
        if self.1.sync_fails.swap(false, SeqCst) {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.0.sync_data()
    }
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn reserve(&self, end: u64) -> io::Result<()> {
        if self.1.no_reserve.load(SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.reserve(end)
    }
    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }
    fn lock(&self) -> io::Result<()> {
        self.0.lock()
    }
    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
    fn identity(&self) -> io::Result<(u64, u64)> {
        self.0.identity()
    }
}

pub fn faulty() -> (World, Arc<Faults>) {
    let faults = Arc::new(Faults::default());
    faults.room.store(u64::MAX, SeqCst);
    let world = World { vfs: Arc::new(FaultyFs(faults.clone())), ..World::empty() };
    (world.with(&[1]), faults)
}
