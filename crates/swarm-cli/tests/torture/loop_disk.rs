//! A disk of our own in a file, whose power can be cut. Only inside a namespace of our own (see `namespace`).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arena::wait_for;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ext4,
    Xfs,
}

pub struct LoopDisk {
    kind: Kind,
    dir: tempfile::TempDir,
}

impl LoopDisk {
    /// Made and mounted. The file is sparse: it takes what is written.
    pub fn new(kind: Kind, megabytes: u64) -> Self {
        let disk = Self { kind, dir: tempfile::tempdir().expect("a temporary folder") };
        std::fs::create_dir(disk.mount_point()).expect("a folder");
        File::create(disk.image()).and_then(|f| f.set_len(megabytes << 20)).expect("a file with a hole");
        let (make, quiet) = match kind {
            Kind::Ext4 => ("mkfs.ext4", "-Fq"),
            Kind::Xfs => ("mkfs.xfs", "-fq"),
        };
        run(Command::new(make).arg(quiet).arg(disk.image()));
        disk.mount();
        disk
    }

    fn image(&self) -> PathBuf {
        self.dir.path().join("disk.img")
    }

    pub fn mount_point(&self) -> PathBuf {
        self.dir.path().join("disk")
    }

    fn mount(&self) {
        run(Command::new("mount").args(["-o", "loop"]).arg(self.image()).arg(self.mount_point()));
    }

    /// The power goes: what the file system has not put on the device is lost, and nothing more gets there.
    pub fn cut(&self) {
        // FS_IOC_SHUTDOWN without a flush of the log.
        let script = "import fcntl, os, struct, sys\n\
                      fd = os.open(sys.argv[1], os.O_RDONLY)\n\
                      fcntl.ioctl(fd, 0x8004587D, struct.pack('I', 2))";
        run(Command::new("python3").args(["-c", script]).arg(self.mount_point()));
    }

    /// The power comes back. Whoever used the disk has ended.
    pub fn come_back(&self) {
        let mut said = String::new();
        wait_for("the dead disk is let go", || {
            let umount = Command::new("umount").arg(self.mount_point()).output().expect("umount runs");
            said = String::from_utf8_lossy(&umount.stderr).into_owned();
            umount.status.success() || said.contains("not mounted")
        });
        self.mount();
    }

    /// The kernel makes the file system read-only, as it does when a device fails. What was not written stays away.
    pub fn fail(&self) {
        run(Command::new("mount").args(["-o", "remount,abort"]).arg(self.mount_point()));
    }

    /// A person repairs it and mounts it again. False while somebody has files open on it.
    pub fn repaired(&self) -> bool {
        if !Command::new("umount").arg(self.mount_point()).output().is_ok_and(|out| out.status.success()) {
            return false;
        }
        // 1: it had faults, and they are corrected.
        let check =
            Command::new("e2fsck").args(["-f", "-y"]).arg(self.image()).output().expect("e2fsck runs");
        assert!(matches!(check.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&check.stdout));
        self.mount();
        true
    }

    /// For a person who wants to look.
    pub fn keep(&mut self) {
        self.dir.disable_cleanup(true);
        eprintln!("kept: {} ({:?}; `mount -o loop` shows it)", self.image().display(), self.kind);
    }

    /// A file that takes all the room there is.
    pub fn fill(&self) -> Filler {
        let file = self.mount_point().join("filler");
        let mut size_kb: u64 = 1 << 22;
        // Halving: what fits is taken, down to the last block.
        let made = File::create(&file).expect("a new file needs no room");
        let (mut end, flags) = (0, rustix::fs::FallocateFlags::empty());
        while size_kb >= 4 {
            match rustix::fs::fallocate(&made, flags, end, size_kb << 10) {
                Ok(()) => end += size_kb << 10,
                Err(_) => size_kb /= 2,
            }
        }
        Filler(file)
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.keep();
        }
        let _ = Command::new("umount").arg("--lazy").arg(self.mount_point()).status();
    }
}

/// Takes all room until it is dropped.
pub struct Filler(PathBuf);

impl Drop for Filler {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Whether file systems of this kind can be made here.
pub fn possible(kind: Kind) -> Result<(), String> {
    let (make, name) = match kind {
        Kind::Ext4 => ("mkfs.ext4", "ext4"),
        Kind::Xfs => ("mkfs.xfs", "xfs"),
    };
    if !Path::new("/dev/loop-control").exists() {
        return Err("there are no loop devices".into());
    }
    if Command::new(make).arg("-V").output().is_err() {
        return Err(format!("{make} is not installed"));
    }
    // A module that can be loaded does not stand there yet.
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let loaded = Command::new("modprobe").arg(name).output().is_ok_and(|output| output.status.success());
    if known.lines().any(|line| line.trim().ends_with(name)) || loaded {
        return Ok(());
    }
    Err(format!("the kernel has no {name}"))
}
