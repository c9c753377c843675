//! A start behind a snapshot reads the end of the ledger, however long it is.
//!
//! `SWARM_RECORDS=10000000` makes it as long as ten million records, which take five gigabytes.

use crate::world;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use swarm_ledger::{Access, Base, OnDamage, Open, Vfs, VfsFile, recover};
use world::{Unsynced, World};

const RECORDS: u64 = 20_000;
const OF_A_BATCH: u64 = 1000;

/// What a start may take that has a snapshot.
const STARTS_WITHIN: Duration = Duration::from_secs(3);

/// A disk that counts the bytes that are read.
struct Counted(Arc<AtomicU64>);

struct CountedFile(Arc<dyn VfsFile>, Arc<AtomicU64>);

impl Vfs for Counted {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        Ok(Arc::new(CountedFile(Unsynced.open(path, how)?, self.0.clone())))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Unsynced.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        Unsynced.remove_file(path)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        Unsynced.sync_dir(dir)
    }
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        Unsynced.create_dir_all(dir)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        Unsynced.list(dir)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        Unsynced.exists(path)
    }
}

impl VfsFile for CountedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.0.read_at(buf, offset)?;
        self.1.fetch_add(read as u64, SeqCst);
        Ok(read)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(buf, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn reserve(&self, end: u64) -> io::Result<()> {
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

/// A ledger of so many records, a snapshot ten records before its end, and a start: the bytes it read and its time.
fn start(records: u64) -> (u64, Duration) {
    let world = World::unsynced();
    world.create();
    let batches = usize::try_from(records / OF_A_BATCH).expect("it fits");
    world.append(&vec![OF_A_BATCH; batches]);
    let head = world.read().head;
    world.append(&[10]);
    let read = Arc::new(AtomicU64::new(0));
    let world = World { vfs: Arc::new(Counted(read.clone())), ..world };
    let bases = [Base { seq: head.seq, hash: head.hash, offset: head.offset }];
    let request = world.request(Access::Write, OnDamage::Quarantine, &[], &bases);
    let mut shown = 0;
    let began = Instant::now();
    let recovered = recover(&request, &mut |_| shown += 1).expect("opens");
    let took = began.elapsed();
    assert_eq!((recovered.base, shown), (Some(head), 10), "{:?}", recovered.findings);
    (read.load(SeqCst), took)
}

#[test]
fn a_start_behind_a_snapshot_reads_no_more_of_a_long_ledger_than_of_a_short_one() {
    let wanted = std::env::var("SWARM_RECORDS").ok().and_then(|text| text.parse().ok());
    let records: u64 = wanted.unwrap_or(RECORDS);
    let (short, _) = start(RECORDS / 4);
    let (long, took) = start(records);
    println!("{records} records: a start reads {long} bytes in {took:?}");
    assert!(long <= short + (64 << 10), "{long} bytes of {records} records, {short} of {}", RECORDS / 4);
    assert!(took <= STARTS_WITHIN, "{took:?}");
}
