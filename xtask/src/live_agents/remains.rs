//! Processes of a scene: everything that was started in it has its home folder in the environment.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Id and command line of each process whose HOME is this folder; zombies too.
pub fn processes(home: &Path) -> Vec<(u32, String)> {
    let mark = [b"HOME=", home.as_os_str().as_bytes()].concat();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|variable| variable == mark).then_some(())?;
        let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        Some((id, command.trim().to_owned()))
    })
    .collect()
}

/// The program of an agent: the topmost of those that started this process, below `swarm`.
pub fn program_of(mut id: u32) -> Option<u32> {
    loop {
        let above = parent(id)?;
        let started_by = std::fs::read_link(format!("/proc/{above}/exe")).ok()?;
        if started_by.file_name()?.to_string_lossy().starts_with("swarm") {
            return Some(id);
        }
        id = above;
    }
}

fn parent(id: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Waits until `wanted` finds one, for as long as it may take.
pub fn wait_for(home: &Path, within: Duration, wanted: impl Fn(&str) -> bool) -> Option<u32> {
    let until = Instant::now() + within;
    loop {
        if let Some((id, _)) = processes(home).into_iter().find(|(_, command)| wanted(command)) {
            return Some(id);
        }
        if Instant::now() > until {
            return None;
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

/// What is left after this long, of those that `counts`.
pub fn left_after(home: &Path, within: Duration, counts: impl Fn(&str) -> bool) -> Vec<(u32, String)> {
    let until = Instant::now() + within;
    loop {
        let left: Vec<_> = processes(home).into_iter().filter(|(_, command)| counts(command)).collect();
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}
