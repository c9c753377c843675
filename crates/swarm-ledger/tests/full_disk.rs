//! A disk that is full, read-only or fails to sync, under the real file system.

mod world;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use swarm_ledger::{AppendError, Batch, Ledger, LedgerWriter, Open, RealFs, Room, Vfs, VfsFile};
use world::{World, batch};

/// What the disk refuses, for the main file only.
#[derive(Default)]
struct Faults {
    /// Bytes that writes may still take; `u64::MAX` is no limit.
    room: AtomicU64,
    no_reserve: AtomicBool,
    sync_fails: AtomicBool,
    syncs: AtomicU64,
    /// A test that holds it makes every sync wait.
    slow: std::sync::Mutex<()>,
}

struct FaultyFs(Arc<Faults>);

struct FaultyFile(Arc<dyn VfsFile>, Arc<Faults>);

impl Vfs for FaultyFs {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
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

fn faulty() -> (World, Arc<Faults>) {
    let faults = Arc::new(Faults::default());
    faults.room.store(u64::MAX, SeqCst);
    let world = World { vfs: Arc::new(FaultyFs(faults.clone())), ..World::empty() };
    (world.with(&[1]), faults)
}

#[test]
fn a_full_disk_cuts_back_refuses_all_and_goes_on_when_there_is_room() {
    let (world, faults) = faulty();
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    let before = world.main();
    let answers = Arc::new(std::sync::Mutex::new(Vec::new()));
    for n in 0..3 {
        let answers = answers.clone();
        let done = Box::new(move |answer| answers.lock().expect("no panic").push(answer));
        writer.submit(batch([n]), done).expect("taken");
    }
    faults.room.store(100, SeqCst);
    assert!(matches!(writer.commit(), Err(AppendError::NoRoom(_))));
    assert_eq!(world.main(), before, "cut back to the durable length");
    let answers = std::mem::take(&mut *answers.lock().expect("no panic"));
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|answer| matches!(answer, Err(AppendError::NoRoom(_)))));
    assert!(matches!(writer.append(batch([9])), Err(AppendError::NoRoom(_))), "refuses until resume");

    faults.room.store(u64::MAX, SeqCst);
    assert_eq!(writer.resume(), Ok(Room::Plenty));
    assert_eq!(writer.append(batch([9])).expect("appended").first_seq, 3);
    assert_eq!((world.read().head.seq, world.main()), (3, world.copy()));
}

#[test]
fn without_room_ahead_only_emergency_records_are_written() {
    let (world, faults) = faulty();
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    faults.no_reserve.store(true, SeqCst);
    let before = world.main();
    assert!(matches!(ledger.append(batch([1])), Err(AppendError::NoRoom(_))));
    assert_eq!(world.main(), before, "nothing was even tried");
    assert_eq!(ledger.resume(), Ok(Room::ReserveOnly));
    assert!(matches!(ledger.append(batch([1])), Err(AppendError::NoRoom(_))));
    let paused = Batch { emergency: true, ..batch([1]) };
    assert_eq!(ledger.append(paused).expect("fits the reserve").first_seq, 3);
    faults.no_reserve.store(false, SeqCst);
    assert_eq!(ledger.resume(), Ok(Room::Plenty));
    assert_eq!(ledger.append(batch([2])).expect("appended").first_seq, 4);
    drop(ledger);
    assert_eq!(world.read().head.seq, 4);
}

#[test]
fn a_failed_sync_is_never_tried_again() {
    let (world, faults) = faulty();
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    ledger.append(batch([1])).expect("appended");
    faults.sync_fails.store(true, SeqCst);
    assert!(matches!(ledger.append(batch([2])), Err(AppendError::SyncFailed(_))));
    let syncs = faults.syncs.load(SeqCst);
    assert!(matches!(ledger.append(batch([3])), Err(AppendError::SyncFailed(_))));
    assert!(matches!(ledger.resume(), Err(AppendError::SyncFailed(_))));
    drop(ledger);
    assert_eq!(faults.syncs.load(SeqCst), syncs, "no second try on a file whose sync failed");
    assert_eq!(world.copy().len(), world.lines()[2].end, "the copy never saw what was not durable");
    faults.sync_fails.store(true, SeqCst);
    let opened = world.try_open(swarm_ledger::Access::Write, swarm_ledger::OnDamage::Ask, &[]);
    assert!(matches!(opened, Err(swarm_ledger::OpenError::SyncFailed { .. })));
}

#[test]
fn a_crowd_shares_syncs() {
    let (world, faults) = faulty();
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    let before = faults.syncs.load(SeqCst);
    let (answer, answers) = std::sync::mpsc::channel();
    let slow = faults.slow.lock();
    for n in 0..500 {
        let answer = answer.clone();
        ledger.submit(batch([n]), Box::new(move |done| drop(answer.send(done)))).expect("taken");
    }
    drop(slow);
    drop(answer);
    assert_eq!(answers.iter().filter(Result::is_ok).count(), 500);
    let syncs = faults.syncs.load(SeqCst) - before;
    assert!(syncs <= 2, "{syncs} syncs for what came before and during the first one");
}
