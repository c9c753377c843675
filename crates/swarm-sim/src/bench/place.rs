//! Where the bench writes: a folder on a real disk, gone afterwards.

use std::io;
use std::path::{Path, PathBuf};

/// `TMPFS_MAGIC` of statfs(2): memory, where a sync costs nothing and proves nothing.
const TMPFS: i64 = 0x0102_1994;

pub struct Place {
    dir: PathBuf,
}

impl Place {
    pub fn new(base: &Path) -> io::Result<Self> {
        let dir = base.join(format!("swarm-bench-{}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        Ok(Self { dir })
    }

    pub fn dir(&self, name: &str) -> io::Result<PathBuf> {
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir)?;
        Ok(dir)
    }

    /// The kind of file system, for the head of the report; an error where it is memory.
    pub fn file_system(&self) -> io::Result<String> {
        #[allow(clippy::unnecessary_cast, reason = "the type of the field differs between machines")]
        let kind = rustix::fs::statfs(&self.dir)?.f_type as i64;
        match kind {
            TMPFS => Err(io::Error::other("this folder is on tmpfs; give one on a disk with --dir")),
            0xEF53 => Ok("ext4".into()),
            0x5846_5342 => Ok("xfs".into()),
            0x9123_683E => Ok("btrfs".into()),
            other => Ok(format!("file system {other:#x}")),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A folder that stays is untidy, not wrong.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
