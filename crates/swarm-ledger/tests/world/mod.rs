//! A ledger in a directory of its own, for the tests beside this file.
#![allow(dead_code)]

pub mod faulty;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swarm_ledger::{
    Access, Base, Batch, Finding, Fragment, Hash, LedgerPaths, LedgerWriter, OnDamage, Open, OpenError,
    RealFs, Recovered, Recovery, Vfs, VfsFile, Witness, create, recover,
};

pub struct World {
    pub dir: tempfile::TempDir,
    pub vfs: Arc<dyn Vfs>,
    pub paths: LedgerPaths,
}

pub fn record(n: u64) -> Fragment {
    Fragment::new(format!(
        "\"type\":\"task_added\",\"taskId\":\"t-{n}\",\"data\":{{\"n\":{n}}},\"by\":\"test\""
    ))
}

pub fn batch(numbers: impl IntoIterator<Item = u64>) -> Batch {
    Batch::new(numbers.into_iter().map(record).collect(), "2026-01-13T10:00:00Z", 1)
}

impl World {
    /// No ledger yet.
    pub fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let paths = LedgerPaths::standard(&dir.path().join(".swarm"), Some(&dir.path().join("git")));
        Self { dir, vfs: Arc::new(RealFs), paths }
    }

    /// The same without syncs, for tests with hundreds of openings: nothing here cuts the power.
    pub fn unsynced() -> Self {
        Self { vfs: Arc::new(Unsynced), ..Self::empty() }
    }

    pub fn without_copy(mut self) -> Self {
        self.paths.copy = None;
        self
    }

    /// Record 1 is the first; then batches of the sizes given.
    pub fn with(self, sizes: &[u64]) -> Self {
        self.create();
        self.append(sizes);
        self
    }

    pub fn create(&self) {
        let first = Fragment::first("ledger-a", "\"type\":\"plan_created\",\"by\":\"test\"");
        create(&self.vfs, &self.paths, &Batch::new(vec![first], "t", 1)).expect("a new ledger");
    }

    pub fn append(&self, sizes: &[u64]) {
        let recovered = self.write();
        let (mut writer, _) = LedgerWriter::open(&recovered).expect("a writer");
        for size in sizes {
            let next = writer.head().seq + 1;
            writer.append(batch(next..next + size)).expect("appended");
        }
    }

    pub fn request<'a>(
        &'a self,
        access: Access,
        on_damage: OnDamage,
        witnesses: &'a [Witness],
        bases: &'a [Base],
    ) -> Recovery<'a> {
        Recovery { vfs: &self.vfs, paths: &self.paths, witnesses, bases, on_damage, access }
    }

    pub fn try_open(
        &self,
        access: Access,
        on_damage: OnDamage,
        witnesses: &[Witness],
    ) -> Result<Recovered, OpenError> {
        recover(&self.request(access, on_damage, witnesses, &[]), &mut |_| {})
    }

    pub fn write(&self) -> Recovered {
        self.try_open(Access::Write, OnDamage::Quarantine, &[]).expect("opens for writing")
    }

    pub fn read(&self) -> Recovered {
        self.try_open(Access::Read, OnDamage::Quarantine, &[]).expect("opens for reading")
    }

    pub fn main(&self) -> Vec<u8> {
        std::fs::read(&self.paths.main).expect("the ledger")
    }

    pub fn copy(&self) -> Vec<u8> {
        std::fs::read(self.paths.copy.as_ref().expect("has a copy")).expect("the copy")
    }

    pub fn set_main(&self, bytes: &[u8]) {
        overwrite(&self.paths.main, bytes);
    }

    pub fn set_copy(&self, bytes: &[u8]) {
        overwrite(self.paths.copy.as_ref().expect("has a copy"), bytes);
    }

    pub fn quarantine(&self) -> Vec<(u64, PathBuf)> {
        swarm_ledger::quarantine::list(&*self.vfs, &self.paths).expect("listed")
    }

    /// Byte ranges of the lines of the ledger.
    pub fn lines(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let main = self.main();
        main.split_inclusive(|b| *b == b'\n')
            .map(|line| {
                start += line.len();
                start - line.len()..start
            })
            .collect()
    }
}

/// Same inode, and never cut to nothing first: some file systems then wait for the device.
pub fn overwrite(path: &Path, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(path).expect("opens");
    file.write_all_at(bytes, 0).expect("written");
    file.set_len(bytes.len() as u64).expect("cut");
}

pub fn witness(seq: u64, hash: Option<Hash>) -> Witness {
    Witness { seq, hash, ledger_id: None, source: "refs/swarm/ledger".into() }
}

/// The kinds of findings, for comparison.
pub fn kinds(findings: &[Finding]) -> Vec<String> {
    let name = |finding: &Finding| {
        let text = format!("{finding:?}");
        text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
    };
    findings.iter().map(name).collect()
}

/// The real file system, but no call waits for the device.
#[derive(Clone, Copy)]
pub struct Unsynced;

struct UnsyncedFile(Arc<dyn VfsFile>);

impl Vfs for Unsynced {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        Ok(Arc::new(UnsyncedFile(RealFs.open(path, how)?)))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealFs.remove_file(path)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        // A directory that is not there is still an error.
        RealFs.list(dir).map(drop)
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

impl VfsFile for UnsyncedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(buf, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn reserve(&self, _end: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
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
