//! The program's process tree, seen from the daemon: everything it leaves behind becomes our child,
//! because the daemon is the reaper of its descendants.

use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use swarm_process::orphans;

/// Passes over adopted children before those left are reported instead of chased, 10 ms apart.
const PASSES_MAX: u32 = 200;

/// Takes leave of ended orphans, so that no zombie waits for the end of the run. The program itself and the gits that we
/// call meanwhile are left to those who wait for their exit codes.
pub fn reap_orphans() {
    for child in orphans() {
        let _ = waitpid(pid(child), WaitOptions::NOHANG);
    }
}

/// Ends what emptied its environment but became our child.
pub async fn end_adopted() -> Vec<u32> {
    for _ in 0..PASSES_MAX {
        let adopted = orphans();
        if adopted.is_empty() {
            return adopted;
        }
        for child in &adopted {
            // Not reaped yet, so the number still names our child.
            if let Some(pid) = pid(*child) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        reap_orphans();
        if orphans().is_empty() {
            continue;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    orphans()
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}
