//! What the kernel says about a process: memory, CPU time, wake-ups, connections.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// One field of `/proc/PID/smaps_rollup`, in kB.
pub fn rollup_kb(pid: u32, field: &str) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    field_kb(&text, field).with_context(|| format!("/proc/{pid}/smaps_rollup has no {field}"))
}

fn field_kb(text: &str, field: &str) -> Option<f64> {
    let line =
        text.lines().find(|line| line.strip_prefix(field).is_some_and(|rest| rest.starts_with(':')))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Memory that only this process has, in kB.
pub fn private_kb(pid: u32) -> Result<f64> {
    Ok(rollup_kb(pid, "Private_Clean")? + rollup_kb(pid, "Private_Dirty")?)
}

/// Where private memory comes from, in kB.
#[derive(Debug, Default, Clone, Copy)]
pub struct Parts {
    /// Pages of the program itself that were written to: relocations and its own variables.
    pub relocations: f64,
    pub heap: f64,
    pub stacks: f64,
    /// Of libraries.
    pub libraries: f64,
    /// Pages of the program that nobody else has mapped at the moment: shared as soon as somebody does.
    pub clean: f64,
}

pub fn parts(pid: u32, program: &Path) -> Result<Parts> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps"))?;
    let program = program.to_string_lossy();
    let mut parts = Parts::default();
    for (mapping, fields) in mappings(&text) {
        let kb = |field: &str| field_kb(&fields, field).unwrap_or(0.0);
        parts.clean += kb("Private_Clean");
        let of = if mapping.ends_with(&*program) {
            &mut parts.relocations
        } else if mapping.ends_with("[stack]") {
            &mut parts.stacks
        } else if mapping.contains('/') {
            &mut parts.libraries
        } else {
            &mut parts.heap
        };
        *of += kb("Private_Dirty");
    }
    Ok(parts)
}

/// Each mapping's head line with the lines below it.
fn mappings(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let is_head = line.split_whitespace().next().is_some_and(|word| !word.ends_with(':'));
        match found.last_mut() {
            Some((_, fields)) if !is_head => {
                fields.push_str(line);
                fields.push('\n');
            }
            _ => found.push((line.trim_end().to_owned(), String::new())),
        }
    }
    found
}

/// CPU time of all threads, in nanoseconds by the scheduler's own count.
pub fn cpu(pid: u32) -> Result<Duration> {
    Ok(Duration::from_nanos(by_thread(pid)?.values().sum()))
}

/// The same of each thread that lives, by its id.
fn by_thread(pid: u32) -> Result<BTreeMap<OsString, u64>> {
    let mut found = BTreeMap::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let thread = thread?;
        let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let nanos = text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
        found.insert(thread.file_name(), nanos);
    }
    Ok(found)
}

/// CPU time from a moment on, of threads that come and go as well. What a thread uses between the last look and its end is
/// not seen: look often.
pub struct Spent {
    pid: u32,
    seen: BTreeMap<OsString, u64>,
    total: Duration,
}

impl Spent {
    pub fn from_now(pid: u32) -> Result<Self> {
        Ok(Self { pid, seen: by_thread(pid)?, total: Duration::ZERO })
    }

    /// All of it so far.
    pub fn look(&mut self) -> Result<Duration> {
        let now = by_thread(self.pid)?;
        let more = |(thread, nanos): (&OsString, &u64)| {
            nanos.saturating_sub(self.seen.get(thread).copied().unwrap_or(0))
        };
        self.total += Duration::from_nanos(now.iter().map(more).sum());
        self.seen = now;
        Ok(self.total)
    }
}

pub fn cpu_of_all(pids: &[u32]) -> Duration {
    pids.iter().filter_map(|pid| cpu(*pid).ok()).sum()
}

/// How often its threads have waited and were woken.
pub fn wake_ups(pid: u32) -> Result<u64> {
    let mut switches = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(thread?.path().join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        switches += line.and_then(|rest| rest.trim().parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(switches)
}

/// Connections to the coordinator of this repository that it has taken in.
pub fn connections(root: &Path) -> usize {
    let run = root.join(".swarm/run/").to_string_lossy().into_owned();
    let text = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let taken_in = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Num RefCount Protocol Flags Type St Inode Path: connected, and held by a process.
        matches!(words[..], [_, _, _, _, _, "03", inode, path] if inode != "0" && path.contains(&run))
    };
    text.lines().filter(taken_in).count()
}

/// The peak of its resident memory, in kB.
pub fn peak_kb(pid: u32) -> Option<f64> {
    field_kb(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM")
}
