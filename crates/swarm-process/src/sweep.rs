//! Ending everything that one run has started, found by the nonce in its environment.
//!
//! This is the belt under the nets (control group, pid namespace, guardian) and works everywhere. What it cannot
//! see: a process that has both emptied its environment and lost its parents. The nets are asked before.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::identity::{Pidfd, parent_of, stat_field};

/// The variable that marks every process of a run.
pub const NONCE_VARIABLE: &str = "SWARM_NONCE";

/// A run that starts processes faster than this many passes can end them is reported, not chased.
const PASSES_MAX: u32 = 50;

/// How a sweep ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sweep {
    /// Two passes in a row found nobody. `ended` were found before.
    Empty { ended: usize },
    /// These still live: they start others faster than we end them, or the kernel holds them.
    Left { pids: Vec<u32> },
}

/// Ends every process that carries `SWARM_NONCE=<nonce>` and all their descendants:
/// a request first, force after `grace`. Never ends the caller itself.
pub async fn end_tree_by_nonce(nonce: &str, grace: Duration) -> Sweep {
    let mut ended = BTreeSet::new();
    let mut empty_passes = 0;
    let mut asked = false;
    for _ in 0..PASSES_MAX {
        let found = held_tree(nonce);
        if found.is_empty() {
            empty_passes += 1;
            if empty_passes == 2 {
                return Sweep::Empty { ended: ended.len() };
            }
            continue;
        }
        empty_passes = 0;
        ended.extend(found.iter().map(|held| held.pid));
        // The wish is spoken once. Whoever appears later was started by a process that ignored it.
        let signal = if asked || grace.is_zero() { Signal::KILL } else { Signal::TERM };
        // A guardian last: as long as it lives, nobody below can lose himself.
        let (found, launchers): (Vec<_>, Vec<_>) = found.into_iter().partition(|held| !is_stage(held.pid));
        let limit = if signal == Signal::TERM { grace } else { Duration::from_secs(1) };
        asked = true;
        if signal == Signal::KILL {
            kill_their_groups(&found);
        }
        for held in &found {
            held.signal(signal);
        }
        wait_all_gone(&found, limit).await;
        if found.is_empty() {
            kill_and_wait(&launchers, limit).await;
        }
    }
    Sweep::Left { pids: held_tree(nonce).iter().map(|held| held.pid).collect() }
}

/// Kills whole process groups: the kernel does that in one step, so one that forks without end cannot
/// slip away between our look and our blow. Only groups led from within the tree; ours is not.
fn kill_their_groups(found: &[Pidfd]) {
    let ours = rustix::process::getpgrp();
    let group_of = |held: &Pidfd| rustix::process::getpgid(Pid::from_raw(i32::try_from(held.pid).ok()?)).ok();
    let groups: BTreeSet<i32> = found
        .iter()
        .filter_map(|held| Some((held, group_of(held)?)))
        // Read while the process is held and alive: the number is that of its group.
        .filter(|(held, group)| *group != ours && !held.is_gone())
        .map(|(_, group)| group.as_raw_nonzero().get())
        .collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

async fn kill_and_wait(launchers: &[Pidfd], limit: Duration) {
    for launcher in launchers {
        launcher.signal(Signal::KILL);
    }
    wait_all_gone(launchers, limit).await;
}

async fn wait_all_gone(held: &[Pidfd], limit: Duration) {
    let until = tokio::time::Instant::now() + limit;
    for one in held {
        let left = until.saturating_duration_since(tokio::time::Instant::now());
        one.wait_gone(left).await;
    }
}

/// Pids that carry the nonce or descend from one that does, without our own.
pub fn processes_with_nonce(nonce: &str) -> Vec<u32> {
    held_tree(nonce).into_iter().map(|held| held.pid).collect()
}

/// Everybody that descends from this process, without itself.
pub(super) fn descendants_of(pid: u32) -> Vec<u32> {
    let mut members = with_descendants(&parents(), BTreeSet::from([pid]));
    members.remove(&pid);
    members.into_iter().collect()
}

/// The same, each held and still there after the hold was taken.
pub(super) fn hold_descendants(pid: u32) -> Vec<Pidfd> {
    let held: Vec<Pidfd> = descendants_of(pid).into_iter().filter_map(Pidfd::open).collect();
    let still: BTreeSet<u32> = descendants_of(pid).into_iter().collect();
    held.into_iter().filter(|held| still.contains(&held.pid)).collect()
}

/// Our own processes between the daemon of this run and its programs.
pub(super) fn hold_launchers(nonce: &str) -> Vec<Pidfd> {
    let mark = format!("{NONCE_VARIABLE}={nonce}");
    let held = all_pids().filter(|pid| is_stage(*pid) && carries(*pid, &mark)).filter_map(Pidfd::open);
    held.filter(|held| is_stage(held.pid) && !held.is_gone()).collect()
}

/// `… boxed LETTER enter …`: as long as it calls itself so, it has not become the program.
fn is_stage(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|b| *b == 0).skip(1);
    words.next() == Some(b"boxed") && words.nth(1) == Some(b"enter")
}

fn parents() -> BTreeMap<u32, u32> {
    all_pids().filter_map(|pid| Some((pid, parent_of(pid)?))).collect()
}

fn held_tree(nonce: &str) -> Vec<Pidfd> {
    let mark = format!("{NONCE_VARIABLE}={nonce}");
    let myself = std::process::id();
    let parents = parents();
    let marked = parents.keys().copied().filter(|pid| *pid != myself && carries(*pid, &mark)).collect();
    let members = with_descendants(&parents, marked);
    members.into_iter().filter_map(|pid| hold(pid, &mark, parents.get(&pid).copied()?)).collect()
}

fn with_descendants(parents: &BTreeMap<u32, u32>, mut members: BTreeSet<u32>) -> BTreeSet<u32> {
    let myself = std::process::id();
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(pid, parent)| **pid != myself && members.contains(parent) && !members.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            return members;
        }
        members.extend(more);
    }
}

/// Takes hold of a member and checks under the hold that it still is the one we saw.
fn hold(pid: u32, mark: &str, parent: u32) -> Option<Pidfd> {
    let held = Pidfd::open(pid)?;
    let same = carries(pid, mark) || parent_of(pid) == Some(parent);
    let zombie = stat_field(pid, 3)? == "Z";
    (same && !zombie && !held.is_gone()).then_some(held)
}

fn carries(pid: u32, mark: &str) -> bool {
    std::fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|b| *b == 0).any(|entry| entry == mark.as_bytes()))
}

pub(super) fn all_pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Living processes that work inside `dir` (working directory or an open file), except ourselves.
pub fn processes_inside(dir: &Path) -> Vec<u32> {
    let myself = std::process::id();
    all_pids().filter(|pid| *pid != myself && is_inside(*pid, dir)).collect()
}

/// Waits until nobody works inside `dir`: git leaves short-lived helpers behind (`git maintenance`).
/// Answers with one who still does after `limit`.
pub async fn who_stays_inside(dir: &Path, limit: Duration) -> Option<u32> {
    let until = tokio::time::Instant::now() + limit;
    loop {
        let pid = *processes_inside(dir).first()?;
        let left = until.saturating_duration_since(tokio::time::Instant::now());
        let gone = match Pidfd::open(pid) {
            Some(held) => held.wait_gone(left).await,
            None => true,
        };
        if !gone || left.is_zero() {
            return Some(pid);
        }
        // A zombie is gone but listed until it is reaped; it has no folder any more.
        tokio::task::yield_now().await;
    }
}

fn is_inside(pid: u32, dir: &Path) -> bool {
    let under = |link: &Path| {
        std::fs::read_link(link)
            .is_ok_and(|to| to.as_os_str().as_bytes().starts_with(b"/") && to.starts_with(dir))
    };
    if under(Path::new(&format!("/proc/{pid}/cwd"))) {
        return true;
    }
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.map(|entry| entry.path()).any(|link| under(&link))
}
