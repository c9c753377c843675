//! Who holds the ledger, written into the lock file for people. Nothing is decided by it: the lock
//! itself decides, and this text may be stale or half written.

use std::io;

use serde::{Deserialize, Serialize};

use crate::appender::write_all;
use crate::vfs::VfsFile;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerInfo {
    pub host: String,
    pub pid: u32,
    /// Clock ticks since boot, field 22 of `/proc/PID/stat`: with the boot id it names one process for ever.
    pub start_time: u64,
    pub boot_id: String,
    /// What the process is doing, e.g. `coordinator` or `task add`.
    pub role: String,
}

impl OwnerInfo {
    pub fn of_this_process(role: &str) -> Self {
        let read =
            |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
        Self {
            host: read("/proc/sys/kernel/hostname"),
            pid: std::process::id(),
            start_time: start_time(&read("/proc/self/stat")).unwrap_or(0),
            boot_id: read("/proc/sys/kernel/random/boot_id"),
            role: role.to_owned(),
        }
    }

    pub(crate) fn write(&self, file: &dyn VfsFile) -> io::Result<()> {
        let text = serde_json::to_vec(self).expect("names and numbers are JSON");
        file.set_len(0)?;
        write_all(file, &text, 0)
    }

    pub(crate) fn read(file: &dyn VfsFile) -> Option<Self> {
        let mut bytes = [0; 4096];
        let len = file.read_at(&mut bytes, 0).ok()?;
        serde_json::from_slice(&bytes[..len]).ok()
    }
}

impl std::fmt::Display for OwnerInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (pid {} on {})", self.role, self.pid, self.host)
    }
}

/// The program's name, in brackets, may itself hold spaces and brackets: fields count from the last one.
fn start_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}
