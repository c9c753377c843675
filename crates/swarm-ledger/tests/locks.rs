//! The two locks, between handles and between processes.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use swarm_ledger::{
    Acquired, LockError, Open, OwnerInfo, RealFs, Vfs, VfsFile, acquire_for_write, locks_keep_out,
};

const WAIT: Duration = Duration::from_secs(20);

fn acquire(dir: &Path, role: &str, wait: Duration) -> Result<Acquired, LockError> {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    acquire_for_write(&vfs, dir, &OwnerInfo::of_this_process(role), wait)
}

#[test]
fn the_door_lets_one_writer_in_at_a_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let inside = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let Acquired::Writer(locks) = acquire(dir.path(), "task add", WAIT).expect("in time")
                    else {
                        panic!("nobody owns it for life")
                    };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    assert!(locks.still_ours().expect("readable"));
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
}

#[test]
fn an_owner_keeps_writers_out_and_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let Ok(Acquired::Writer(locks)) = acquire(dir.path(), "coordinator", WAIT) else { panic!("free") };
    assert!(matches!(
        acquire(dir.path(), "x", Duration::ZERO),
        Err(LockError::DoorHeld { holder: Some(info), .. }) if info.role == "coordinator"
    ));
    let owner = locks.become_owner();
    let Ok(Acquired::Busy(Some(info))) = acquire(dir.path(), "x", Duration::ZERO) else { panic!("owned") };
    assert_eq!(info, OwnerInfo::of_this_process("coordinator"));
    assert!(info.start_time > 0 && !info.boot_id.is_empty() && !info.host.is_empty());
    drop(owner);
    assert!(matches!(acquire(dir.path(), "x", Duration::ZERO), Ok(Acquired::Writer(_))));
}

#[test]
fn a_removed_or_replaced_lock_file_is_noticed() {
    let dir = tempfile::tempdir().expect("a directory");
    let Ok(Acquired::Writer(locks)) = acquire(dir.path(), "coordinator", WAIT) else { panic!("free") };
    let owner = locks.become_owner();
    assert!(owner.still_ours().expect("readable"));
    let path = dir.path().join("owner.lock");
    std::fs::remove_file(&path).expect("removed");
    assert!(!owner.still_ours().expect("readable"));
    std::fs::write(&path, b"").expect("replaced");
    assert!(!owner.still_ours().expect("readable"));
}

/// Not a test of its own: the other process of the test below.
#[test]
fn holder_process() {
    let Ok(dir) = std::env::var("LOCK_HOLDER_DIR") else { return };
    let Ok(Acquired::Writer(locks)) = acquire(Path::new(&dir), "holder", WAIT) else { panic!("free") };
    let _owner = locks.become_owner();
    println!("\nheld");
    std::thread::park();
}

#[test]
fn a_killed_owner_frees_its_lock() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = Command::new(std::env::current_exe().expect("a path"))
        .args(["locks::holder_process", "--exact", "--nocapture"])
        .env("LOCK_HOLDER_DIR", dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    assert!(output.lines().map_while(Result::ok).any(|line| line == "held"), "the holder says so");
    let Ok(Acquired::Busy(Some(info))) = acquire(dir.path(), "x", WAIT) else { panic!("owned by the child") };
    assert_eq!((info.pid, info.role.as_str()), (child.id(), "holder"));
    child.kill().expect("killed");
    child.wait().expect("reaped");
    let limit = Instant::now() + WAIT;
    while !matches!(acquire(dir.path(), "x", WAIT), Ok(Acquired::Writer(_))) {
        assert!(Instant::now() < limit, "a dead owner still holds its lock");
        std::thread::yield_now();
    }
}

/// Locks of a file system that has none.
enum NoLocks {
    /// It says so, as a network file system whose server has no lock service does.
    Says(rustix::io::Errno),
    /// It gives the same lock to everybody.
    GivesToAll,
}

struct Lockless(Arc<NoLocks>);

struct Unlocked(Arc<dyn VfsFile>, Arc<NoLocks>);

impl Vfs for Lockless {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        Ok(Arc::new(Unlocked(RealFs.open(path, how)?, self.0.clone())))
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

impl VfsFile for Unlocked {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buf, offset)
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
        match *self.1 {
            NoLocks::Says(errno) => Err(errno.into()),
            NoLocks::GivesToAll => Ok(true),
        }
    }
    fn lock(&self) -> io::Result<()> {
        self.try_lock().map(|_| ())
    }
    fn unlock(&self) -> io::Result<()> {
        Ok(())
    }
    fn identity(&self) -> io::Result<(u64, u64)> {
        self.0.identity()
    }
}

#[test]
fn where_a_lock_keeps_nobody_out_nobody_writes() {
    use rustix::io::Errno;
    let dir = tempfile::tempdir().expect("a directory");
    let kinds = [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS].map(NoLocks::Says);
    for kind in kinds.into_iter().chain([NoLocks::GivesToAll]) {
        let vfs: Arc<dyn Vfs> = Arc::new(Lockless(Arc::new(kind)));
        let me = OwnerInfo::of_this_process("coordinator");
        let got = acquire_for_write(&vfs, dir.path(), &me, Duration::ZERO);
        assert!(matches!(got, Err(LockError::KeepsNobodyOut(_))));
        assert!(!locks_keep_out(&vfs, dir.path()).expect("tried"));
        assert!(!dir.path().join("probe.lock").exists(), "what was tried is taken away");
    }
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    assert!(locks_keep_out(&vfs, dir.path()).expect("tried"), "those of this machine do");
}
