//! The simulated machine: one disk, one living process at a time, faults, kills and power cuts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::disk::fault::{self, Fault, FaultPlan, Op};
use crate::disk::inode::{Cut, Inode};
use crate::disk::names::{Entry, Names};
use crate::disk::sim_fs::SimFs;
use crate::disk::trace::Trace;
use crate::rng::Rng;

/// A handle on the machine, for the driver of a run. Processes on it see only a [`SimFs`].
#[derive(Clone)]
pub struct Machine {
    disk: Arc<Mutex<Disk>>,
}

/// Everything the machine is made of.
pub struct Disk {
    pub(super) names: Names,
    pub(super) inodes: BTreeMap<u64, Inode>,
    /// Which handle holds the lock of an inode.
    pub(super) locks: BTreeMap<u64, u64>,
    pub(super) next_inode: u64,
    pub(super) next_handle: u64,
    pub(super) rng: Rng,
    /// Bytes all files together may take.
    pub(super) room: Option<u64>,
    process: u64,
    pub(super) forgot: u64,
    reads_failed: u64,
    faults: FaultPlan,
    ops: u64,
    trace: Trace,
}

/// Every file by its path, as a reader sees it.
pub type Image = BTreeMap<PathBuf, Vec<u8>>;

impl Machine {
    /// A machine whose disk has these directories, durably, and nothing else.
    pub fn new(seed: u64, dirs: &[&str]) -> Self {
        let mut names = Names::default();
        for dir in dirs {
            names.create_dir_all(Path::new(dir)).expect("plain directories can be made");
        }
        names.sync_all();
        let disk = Disk {
            names,
            inodes: BTreeMap::new(),
            locks: BTreeMap::new(),
            next_inode: 1,
            next_handle: 1,
            rng: Rng::new(seed),
            room: None,
            process: 0,
            forgot: 0,
            reads_failed: 0,
            faults: FaultPlan::default(),
            ops: 0,
            trace: Trace::default(),
        };
        Self { disk: Arc::new(Mutex::new(disk)) }
    }

    /// The disk as the process that lives now sees it. After a kill or a power cut it answers
    /// nothing but errors, and the next process asks for its own.
    pub fn process(&self) -> SimFs {
        let process = self.lock().process;
        SimFs::new(self.disk.clone(), process)
    }

    pub fn is_alive(&self, fs: &SimFs) -> bool {
        self.lock().process == fs.process()
    }

    /// Arms a fault `after` operations from now.
    pub fn arm(&self, after: u64, fault: Fault) {
        let mut disk = self.lock();
        let at = disk.ops + after;
        disk.faults.armed.push((at, fault));
    }

    /// No fault is left, the disk can be written and has room.
    pub fn calm(&self) {
        let mut disk = self.lock();
        disk.faults.calm();
        disk.room = None;
    }

    pub fn set_room(&self, bytes: Option<u64>) {
        self.lock().room = bytes;
    }

    /// Bytes all files take now.
    pub fn used(&self) -> u64 {
        self.lock().used()
    }

    pub fn kill(&self) {
        self.lock().end_process();
    }

    pub fn power_cut(&self) {
        self.lock().power_cut();
    }

    /// What `syncfs` does: everything is durable.
    pub fn sync_all(&self) {
        let mut disk = self.lock();
        disk.names.sync_all();
        disk.inodes.values_mut().for_each(Inode::sync);
    }

    pub fn image(&self) -> Image {
        let disk = self.lock();
        disk.names.files().map(|(path, inode)| (path.clone(), disk.inodes[&inode].live().to_vec())).collect()
    }

    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let disk = self.lock();
        let Some(Entry::File(inode)) = disk.names.get(path) else { return None };
        Some(disk.inodes[&inode].live().to_vec())
    }

    /// What the device holds of a file, whatever the cache shows.
    pub fn device_bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let disk = self.lock();
        let Some(Entry::File(inode)) = disk.names.get(path) else { return None };
        Some(disk.inodes[&inode].device().to_vec())
    }

    /// How often the cache has forgotten bytes the device never took.
    pub fn forgot(&self) -> u64 {
        self.lock().forgot
    }

    /// How often a file could not be opened or read.
    pub fn reads_failed(&self) -> u64 {
        self.lock().reads_failed
    }

    /// Puts bytes on the device behind everybody's back: rot, or an executor that should not be there.
    pub fn plant(&self, path: &Path, bytes: Vec<u8>) {
        let mut disk = self.lock();
        let inode = match disk.names.get(path) {
            Some(Entry::File(inode)) => inode,
            _ => {
                let inode = disk.new_inode();
                let dir = path.parent().expect("a file lies in a directory");
                disk.names.create_dir_all(dir).expect("its directory can be made");
                disk.names.set(path, Entry::File(inode)).expect("the directory was just made");
                disk.names.sync_all();
                inode
            }
        };
        disk.inodes.insert(inode, Inode::at_rest(bytes));
    }

    /// Removes a file durably, as `git clean -fdx` and a sync would.
    pub fn wipe(&self, path: &Path) {
        let mut disk = self.lock();
        // Already gone is as good.
        let _ = disk.names.unset(path);
        disk.names.sync_all();
    }

    pub fn mix_into_trace(&self, bytes: &[u8]) {
        self.lock().trace.mix(bytes);
    }

    pub fn trace_hash(&self) -> u64 {
        self.lock().trace.hash()
    }

    pub fn last_operations(&self) -> String {
        self.lock().trace.last_operations()
    }

    pub fn operations(&self) -> u64 {
        self.lock().ops
    }

    fn lock(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("nobody panics while holding the disk")
    }
}

impl Disk {
    /// One operation of a process: counted, traced, and perhaps struck by a fault.
    pub(super) fn operate<T>(
        &mut self,
        process: u64,
        what: (Op, &Path, u64, u64),
        act: impl FnOnce(&mut Self, Option<Fault>) -> io::Result<T>,
    ) -> io::Result<T> {
        if process != self.process {
            return Err(fault::dead());
        }
        let (op, path, offset, len) = what;
        let index = self.ops;
        self.ops += 1;
        let (answer, word) = match self.strike(index, op) {
            Strike::End(fault) => {
                // Dying in the middle of it: half the time the operation had already been done.
                if self.rng.chance(50) {
                    let _ = act(self, None);
                }
                match fault {
                    Fault::PowerCut => self.power_cut(),
                    _ => self.end_process(),
                }
                (Err(fault::dead()), if fault == Fault::PowerCut { "power cut" } else { "killed" })
            }
            Strike::Refuse(error) => {
                let word = word_of(&error);
                (Err(error), word)
            }
            Strike::Bend(fault) => {
                let answer = act(self, fault);
                let word = answer.as_ref().err().map_or("ok", word_of);
                (answer, word)
            }
        };
        self.trace.note(index, op, path, offset, len, word);
        answer
    }

    fn strike(&mut self, index: u64, op: Op) -> Strike {
        let struck = self.faults.take(index, op);
        let unreadable =
            struck == Some(Fault::ReadFails) || (struck == Some(Fault::InputOutput) && op == Op::Open);
        self.reads_failed += u64::from(unreadable);
        if struck == Some(Fault::ReadOnly) {
            self.faults.read_only = true;
        }
        if self.faults.read_only && op.changes_the_disk() {
            return Strike::Refuse(fault::erofs());
        }
        match struck {
            Some(fault @ (Fault::Kill | Fault::PowerCut)) => Strike::End(fault),
            Some(Fault::InputOutput | Fault::ReadFails | Fault::SyncDirFails) => Strike::Refuse(fault::eio()),
            Some(Fault::NoSpace) => Strike::Refuse(fault::enospc()),
            Some(Fault::Interrupted) => Strike::Refuse(fault::eintr()),
            Some(fault @ (Fault::ShortWrite | Fault::SyncFails { .. })) => Strike::Bend(Some(fault)),
            Some(Fault::ReadOnly) | None => Strike::Bend(None),
        }
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.faults.read_only
    }

    pub(super) fn new_inode(&mut self) -> u64 {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.inodes.insert(inode, Inode::default());
        inode
    }

    pub(super) fn used(&self) -> u64 {
        self.names.files().map(|(_, inode)| self.inodes[&inode].takes()).sum()
    }

    /// The kernel frees the locks of a dead process; its unsynced bytes stay in the cache.
    fn end_process(&mut self) {
        self.process += 1;
        self.locks.clear();
        self.faults.calm();
    }

    fn power_cut(&mut self) {
        self.end_process();
        self.forgot += 1;
        let mut rng = self.rng.fork();
        let cut = *rng.pick(&[Cut::AllLost, Cut::AllKept, Cut::Mixed, Cut::Mixed]);
        self.names = std::mem::take(&mut self.names).after(cut, &mut rng);
        let mut inodes = std::mem::take(&mut self.inodes);
        let named: Vec<u64> = self.names.files().map(|(_, inode)| inode).collect();
        for inode in named {
            let file = inodes.remove(&inode).unwrap_or_default();
            self.inodes.insert(inode, file.after(cut, &mut rng));
        }
    }
}

enum Strike {
    /// The operation is done, perhaps bent.
    Bend(Option<Fault>),
    Refuse(io::Error),
    End(Fault),
}

fn word_of(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "not found",
        io::ErrorKind::AlreadyExists => "exists",
        io::ErrorKind::StorageFull => "ENOSPC",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        io::ErrorKind::Interrupted => "EINTR",
        io::ErrorKind::Deadlock => "deadlock",
        _ => "EIO",
    }
}
