//! The parent of orphans.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Orphans come to us.
static REAPS: AtomicBool = AtomicBool::new(false);

/// Children that somebody in this process waits for.
static AWAITED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn awaited() -> MutexGuard<'static, BTreeSet<u32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, until it is released, this child is no orphan: its end is somebody's to see.
pub(super) fn hold(child: u32) {
    awaited().insert(child);
}

pub(super) fn release(child: u32) {
    awaited().remove(&child);
}

/// Our children that nobody in this process started and waits for: they came to us when their parent ended. None in a process
/// to which no orphans come: what nobody waits for there is a child that was started to outlive us.
pub fn orphans() -> Vec<u32> {
    if !REAPS.load(Ordering::Relaxed) {
        return vec![];
    }
    let awaited = awaited();
    children().into_iter().filter(|child| !awaited.contains(child)).collect()
}

/// Makes this process the parent of every orphan among its descendants.
pub fn become_reaper() -> std::io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    REAPS.store(true, Ordering::Relaxed);
    Ok(())
}

/// Our children, of whichever of our threads.
pub fn children() -> Vec<u32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}
