//! The end of a child's whole process group, while the child itself has not been taken leave of: until then the
//! kernel gives its number to nobody else, so the group is surely ours.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::identity::{Pidfd, stat_field};
use super::run::Running;

/// After force: gone at once, unless the kernel holds one back.
const KILL_WITHIN: Duration = Duration::from_secs(2);

impl Running {
    /// Waits until the child has ended, without taking leave of it. False when it still runs after `limit`.
    pub async fn ended_within(&self, limit: Duration) -> bool {
        match self.child.id().and_then(Pidfd::open) {
            Some(child) => child.wait_gone(limit).await,
            None => true,
        }
    }

    /// Ends whoever is left in the child's group: a request, force after `grace`. Before [`Running::wait`].
    pub async fn end_whole_group(&self, grace: Duration) {
        let Some(number) = self.child.id() else { return };
        let Some(group) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return };
        let left = members(number);
        if left.is_empty() {
            return;
        }
        let _ = kill_process_group(group, Signal::TERM);
        if all_gone(&left, grace).await && members(number).is_empty() {
            return;
        }
        // In one step of the kernel, so that one who forks without end cannot slip away.
        let _ = kill_process_group(group, Signal::KILL);
        all_gone(&left, KILL_WITHIN).await;
    }
}

async fn all_gone(held: &[Pidfd], limit: Duration) -> bool {
    let until = tokio::time::Instant::now() + limit;
    for one in held {
        if !one.wait_gone(until.saturating_duration_since(tokio::time::Instant::now())).await {
            return false;
        }
    }
    true
}

/// Living processes of the group.
fn members(group: u32) -> Vec<Pidfd> {
    let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_member = |pid: u32| stat_field(pid, 5).is_some_and(|found| found == group.to_string());
    pids.filter(|pid| is_member(*pid))
        .filter_map(Pidfd::open)
        .filter(|held| !held.is_gone() && is_member(held.pid))
        .collect()
}
