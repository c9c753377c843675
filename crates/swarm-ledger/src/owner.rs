//! Who holds the ledger, written into the lock file for people. Nothing is decided by it: the lock
//! itself decides, and this text may be stale or half written.

use std::io;

use serde::{Deserialize, Serialize};

use crate::appender::write_all;
use crate::vfs::VfsFile;

/// The kernel's unit in `/proc/PID/stat`, the same on every Linux that we know of.
const TICKS_PER_SEC: u64 = 100;

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

    /// It lives, and was stopped (SIGSTOP, Ctrl+Z, a debugger): it will not come to its end by itself.
    pub fn is_stopped(&self) -> bool {
        self.stat().is_some_and(|stat| {
            let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
            state.is_some_and(|fields| fields.starts_with(['T', 't']))
        })
    }

    /// Whether it died on this machine. A child that it had just forked holds its lock for the moment until it becomes
    /// another program.
    pub fn is_dead(&self) -> bool {
        let me = Self::of_this_process("");
        let here = self.host == me.host && self.boot_id == me.boot_id;
        let dead = |stat: String| {
            let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start().to_owned());
            state.is_some_and(|fields| fields.starts_with(['Z', 'X']))
        };
        here && self.stat().is_none_or(dead)
    }

    /// How long it has lived; none when it is gone, or on another machine.
    fn age_secs(&self) -> Option<u64> {
        self.stat()?;
        let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
        Some((uptime as u64).saturating_sub(self.start_time / TICKS_PER_SEC))
    }

    /// `/proc/PID/stat` of this very process, not of another one that got its number.
    fn stat(&self) -> Option<String> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        (boot.trim() == self.boot_id && start_time(&stat) == Some(self.start_time)).then_some(stat)
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
        write!(f, "{} (pid {} on {}", self.role, self.pid, self.host)?;
        if let Some(age_secs) = self.age_secs() {
            write!(f, ", running for {}", span(age_secs))?;
        }
        write!(f, "{})", if self.is_stopped() { ", stopped by a signal" } else { "" })
    }
}

/// A span of time as people say it.
fn span(secs: u64) -> String {
    match secs {
        0..=119 => format!("{secs} s"),
        120..=7199 => format!("{} min", secs / 60),
        _ => format!("{} h", secs / 3600),
    }
}

/// The program's name, in brackets, may itself hold spaces and brackets: fields count from the last one.
fn start_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}
