//! The steady clock: what `now` means to the core.
//!
//! It starts at the wall clock, or at the last record if that is later, and then runs with the time
//! since boot, suspended time included. So no deadline ever moves because somebody set the clock,
//! and the records of a ledger never go back in time. Where somebody is at work, the next coordinator
//! goes on by the clock of the one before, as long as the machine has not been started anew.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use swarm_process::boot_id;
use swarm_protocol::time::Timestamp;

#[derive(Debug, Clone)]
pub struct SteadyClock {
    start: Timestamp,
    boot_at_start: Duration,
}

/// What the clock of a coordinator would have shown when the machine started, in milliseconds since 1970.
#[derive(Debug, Serialize, Deserialize)]
struct Tie {
    boot_id: String,
    at_boot: i64,
}

impl SteadyClock {
    /// The clock of the coordinator that has left this file, never behind `last`. A calendar that was set meanwhile would
    /// make hours of the minutes that an agent has worked. A file of another start of the machine says nothing.
    pub fn going_on(last: Timestamp, file: &Path) -> Self {
        let tie = std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self::tied(last, tie, boot_id().as_deref(), since_boot())
    }

    fn tied(last: Timestamp, tie: Option<Tie>, boot_id: Option<&str>, since_boot: Duration) -> Self {
        let tie = tie.filter(|tie| Some(tie.boot_id.as_str()) == boot_id);
        let shows = tie.and_then(|tie| u64::try_from(tie.at_boot.checked_add(ms(since_boot))?).ok());
        Self::from_parts(shows.map_or_else(wall_clock, Timestamp).min(Timestamp::MAX).max(last), since_boot)
    }

    /// For whoever comes next.
    pub fn leave(&self, file: &Path) -> io::Result<()> {
        let Some(boot_id) = boot_id() else { return Ok(()) };
        let start = i64::try_from(self.start.0).unwrap_or(i64::MAX);
        let tie = Tie { boot_id, at_boot: start.saturating_sub(ms(self.boot_at_start)) };
        let new = file.with_extension("new");
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&new, serde_json::to_vec(&tie)?)?;
        std::fs::rename(&new, file)
    }

    /// A clock that is never behind `last`, the time of the last record.
    pub fn starting_after(last: Timestamp) -> Self {
        Self::from_parts(wall_clock().max(last), since_boot())
    }

    fn from_parts(start: Timestamp, boot_at_start: Duration) -> Self {
        Self { start, boot_at_start }
    }

    pub fn now(&self) -> Timestamp {
        self.at(since_boot())
    }

    /// How long from now until `moment`; nothing when it is past.
    pub fn until(&self, moment: Timestamp) -> Duration {
        Duration::from_millis(moment.0.saturating_sub(self.now().0))
    }

    fn at(&self, boot: Duration) -> Timestamp {
        let run = boot.saturating_sub(self.boot_at_start);
        self.start.plus_ms(u64::try_from(run.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The wall clock, which people and other machines may set.
pub fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)).min(Timestamp::MAX)
}

/// How long the machine has run, suspended time included. No calendar that somebody sets changes it.
pub fn since_boot() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_never_starts_before_the_last_record_and_never_goes_back() {
        let last = wall_clock().plus_secs(86_400);
        let clock = SteadyClock::starting_after(last);
        let first = clock.now();
        assert!(first >= last && first < last.plus_secs(60));
        assert!(clock.now() >= first);
        assert!(SteadyClock::starting_after(Timestamp::ZERO).now() > Timestamp(1_600_000_000_000));
    }

    #[test]
    fn the_next_coordinator_goes_on_by_the_clock_of_the_one_before_until_the_machine_starts_anew() {
        let last = Timestamp(10_000);
        let check = |tie: Option<Tie>, since_boot: u64, expected: Option<u64>| {
            let clock = SteadyClock::tied(last, tie, Some("b1"), Duration::from_millis(since_boot));
            match expected {
                Some(time) => assert_eq!(clock.start, Timestamp(time)),
                None => assert!(clock.start >= last.plus_secs(1_000_000), "by the calendar: {clock:?}"),
            }
        };
        let tie = |boot_id: &str, at_boot| Some(Tie { boot_id: boot_id.into(), at_boot });
        check(tie("b1", 9_000), 5_000, Some(14_000));
        check(tie("b1", -1_000), 15_000, Some(14_000));
        check(tie("b1", 1_000), 5_000, Some(10_000));
        check(tie("b0", 9_000), 5_000, None);
        check(tie("b1", i64::MAX), 5_000, None);
        check(None, 5_000, None);
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("state/clock.json");
        let before = SteadyClock::starting_after(wall_clock().plus_secs(86_400));
        before.leave(&file).expect("written");
        let next = SteadyClock::going_on(Timestamp::ZERO, &file);
        let apart = next.now().0.abs_diff(before.now().0);
        assert!(apart < 1_000, "{apart} ms between one clock and the next");
    }

    #[test]
    fn time_passes_with_the_machine_and_not_with_its_calendar() {
        let clock = SteadyClock::from_parts(Timestamp(5_000), Duration::from_secs(100));
        assert_eq!(clock.at(Duration::from_millis(100_250)), Timestamp(5_250));
        assert_eq!(
            clock.at(Duration::from_secs(3)),
            Timestamp(5_000),
            "a boot clock that jumps back is not followed"
        );
    }
}
