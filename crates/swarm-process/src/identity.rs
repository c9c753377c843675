//! Who a process is: a pid alone may be somebody else a moment later.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use super::readable::watch_readable;

/// A process that can be recognised again after our own restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub boot_id: String,
    pub pid: u32,
    /// Clock ticks since boot at which it started, field 22 of `/proc/PID/stat`.
    pub start_time: u64,
    pub nonce: String,
}

impl ProcessIdentity {
    /// Reads the identity of a living process; `None` when it is gone.
    pub fn of(pid: u32, nonce: impl Into<String>) -> Option<Self> {
        Some(Self { boot_id: boot_id()?, pid, start_time: start_time_of(pid)?, nonce: nonce.into() })
    }

    pub fn of_myself(nonce: impl Into<String>) -> Option<Self> {
        Self::of(std::process::id(), nonce)
    }
}

/// Changes with every start of the machine.
pub fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// Our own number in `/proc`. In a pid namespace that shares `/proc` with those outside it is not the one
/// that we know ourselves by.
pub(super) fn pid_in_proc() -> u32 {
    let link = std::fs::read_link("/proc/self").ok();
    link.and_then(|link| link.to_str()?.parse().ok()).unwrap_or_else(std::process::id)
}

/// When the process started, in clock ticks since boot; `None` when there is no such process.
pub fn start_time_of(pid: u32) -> Option<u64> {
    stat_field(pid, 22)?.parse().ok()
}

/// How long the process has been running; `None` when it is gone.
pub fn age_of(pid: u32) -> Option<Duration> {
    // The kernel shows these times to programs in hundredths of a second, whatever its own clock is.
    let started = start_time_of(pid)? as f64 / 100.0;
    let uptime: f64 = std::fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    Some(Duration::from_secs_f64((uptime - started).max(0.0)))
}

/// Processor time the process has used, with that of its children that it has taken leave of.
pub fn cpu_time_of(pid: u32) -> Option<Duration> {
    let ticks: u64 = (14..=17).filter_map(|field| stat_field(pid, field)?.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 10))
}

/// Time for which its threads could have worked and had no processor. Nothing where the kernel does not tell.
pub fn starved_time_of(pid: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let waited = threads.filter_map(|thread| {
        let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        times.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    Duration::from_nanos(waited.sum())
}

pub(super) fn parent_of(pid: u32) -> Option<u32> {
    stat_field(pid, 4)?.parse().ok()
}

/// Whether it has been stopped by a signal or a debugger, and so does nothing at all.
pub fn is_stopped(pid: u32) -> bool {
    stat_field(pid, 3).is_some_and(|state| state == "T" || state == "t")
}

/// Whether a process has this very file open, by whatever name; none where that cannot be seen.
pub fn has_open(pid: u32, file: &Path) -> Option<bool> {
    let of = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
    let wanted = of(file).ok()?;
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    Some(open.flatten().any(|entry| of(&entry.path()).is_ok_and(|found| found == wanted)))
}

/// A field of `/proc/PID/stat` by its number in proc(5), 3 or higher.
pub(super) fn stat_field(pid: u32, number: usize) -> Option<String> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may itself hold spaces and
    // parentheses: everything after the last one is regular.
    let end = stat.iter().rposition(|b| *b == b')')?;
    let rest = String::from_utf8_lossy(&stat[end + 1..]).into_owned();
    rest.split_ascii_whitespace().nth(number - 3).map(str::to_owned)
}

/// A hold on one process: signals go to it or to nobody.
#[derive(Debug)]
pub struct Pidfd {
    fd: OwnedFd,
    pub pid: u32,
}

/// Opens the process if it is still the one that was recorded.
pub fn open_verified(identity: &ProcessIdentity) -> Option<Pidfd> {
    if boot_id()? != identity.boot_id {
        return None;
    }
    let pidfd = Pidfd::open(identity.pid)?;
    // The order matters: first the hold, then the check. The other way round the pid could
    // change hands in between.
    let same = start_time_of(identity.pid)? == identity.start_time && !pidfd.is_gone();
    same.then_some(pidfd)
}

impl Pidfd {
    /// Opens whatever has this pid now. The caller must check who it is before it signals.
    pub(super) fn open(pid: u32) -> Option<Self> {
        let fd = pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()?;
        Some(Self { fd, pid })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Sends the signal; false when the process has ended.
    pub fn signal(&self, signal: Signal) -> bool {
        pidfd_send_signal(&self.fd, signal).is_ok()
    }

    /// True once the process has ended, reaped or not.
    pub fn is_gone(&self) -> bool {
        let mut polled = [rustix::event::PollFd::new(&self.fd, rustix::event::PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(rustix::event::poll(&mut polled, Some(&now)), Ok(n) if n > 0)
    }

    /// Waits until the process has ended; false when it still runs after `limit`.
    pub async fn wait_gone(&self, limit: Duration) -> bool {
        let Ok(fd) = self.fd.as_fd().try_clone_to_owned() else { return self.is_gone() };
        let Ok(watched) = watch_readable(fd) else { return self.is_gone() };
        let ended = tokio::time::timeout(limit, watched.readable()).await;
        matches!(ended, Ok(Ok(_))) || self.is_gone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    #[test]
    fn threads_that_want_to_work_and_have_no_processor_are_seen_to_starve() {
        let more_than_can_work = 2 * std::thread::available_parallelism().map_or(1, usize::from) + 1;
        let enough = AtomicBool::new(false);
        let starved = std::thread::scope(|scope| {
            for _ in 0..more_than_can_work {
                scope.spawn(|| {
                    while !enough.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let until = Instant::now() + Duration::from_secs(30);
            let long_enough = || starved_time_of(std::process::id()) >= Duration::from_millis(50);
            while !long_enough() && Instant::now() < until {
                std::thread::yield_now();
            }
            enough.store(true, Ordering::Relaxed);
            starved_time_of(std::process::id())
        });
        assert!(starved > Duration::ZERO, "a kernel without schedstat?");
    }
}
