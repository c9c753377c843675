//! The last look for processes of a run whose daemon and guardian were both killed: those that cast off their
//! environment and their parents, but work where only that run worked.
//!
//! One of these signs alone would meet a person's shell or editor in the worktree. Together they do not: below the
//! worktree, started after the daemon, and without the right to gain new ones, which the walls of a run take from
//! everybody behind them and nobody gets back.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use super::identity::{Pidfd, start_time_of};
use super::sweep::all_pids;

/// One that starts others faster than this is reported, not chased.
const PASSES_MAX: u32 = 50;
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// Ends what bears all signs; answers with those who stay. `since` is the start of the run's daemon.
pub async fn end_cast_off(worktree: &Path, since: u64) -> Vec<u32> {
    // Where we ourselves have lost that right, everybody around us has, and it says nothing.
    if has_no_new_rights("self") {
        return Vec::new();
    }
    for _ in 0..PASSES_MAX {
        let found = hold_all(worktree, since);
        if found.is_empty() {
            return Vec::new();
        }
        for held in &found {
            held.signal(Signal::KILL);
        }
        for held in &found {
            held.wait_gone(GONE_WITHIN).await;
        }
    }
    hold_all(worktree, since).iter().map(|held| held.pid).collect()
}

fn hold_all(worktree: &Path, since: u64) -> Vec<Pidfd> {
    let bears_all = |pid: u32| {
        works_below(pid, worktree)
            && start_time_of(pid).is_some_and(|started| started >= since)
            && has_no_new_rights(&pid.to_string())
    };
    let myself = std::process::id();
    let held = all_pids().filter(|pid| *pid != myself && bears_all(*pid)).filter_map(Pidfd::open);
    // The hold first, then the check that it still is the one we saw.
    held.filter(|held| bears_all(held.pid) && !held.is_gone()).collect()
}

fn works_below(pid: u32, worktree: &Path) -> bool {
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(worktree))
}

fn has_no_new_rights(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("NoNewPrivs:").is_some_and(|value| value.trim() == "1"))
}
