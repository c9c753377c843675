//! A child that does nothing at all: it waits for something that will not come.

use std::time::Duration;

use tokio::time::Instant;

use super::identity::stat_field;
use super::sweep::descendants_of;

const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Comes back when the process has neither worked nor read nor written for so long, and sleeps where a signal would
/// wake it, or was stopped by one. One that waits for its own children, or for a disk that the kernel waits for, is not stuck.
pub(super) async fn until_stuck(pid: u32, after: Duration) {
    let mut last = (Sign::of(pid), Instant::now());
    loop {
        tokio::time::sleep(LOOK_EVERY.min(after)).await;
        let now = Sign::of(pid);
        let idle = now.as_ref().is_some_and(|now| now.sleeps) && descendants_of(pid).is_empty();
        if !idle || now != last.0 {
            last = (now, Instant::now());
        } else if last.1.elapsed() >= after {
            return;
        }
    }
}

/// What changes as long as a process does something.
#[derive(Debug, PartialEq, Eq)]
struct Sign {
    sleeps: bool,
    worked: [Option<String>; 2],
    moved: Option<String>,
}

impl Sign {
    fn of(pid: u32) -> Option<Self> {
        // T: a signal has stopped it, and whoever sent that may never let it go on.
        let sleeps = matches!(stat_field(pid, 3)?.as_str(), "S" | "T");
        let worked = [14, 15].map(|field| stat_field(pid, field));
        Some(Self { sleeps, worked, moved: std::fs::read_to_string(format!("/proc/{pid}/io")).ok() })
    }
}
