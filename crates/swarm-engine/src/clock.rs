//! The steady clock: what `now` means to the core.
//!
//! It starts at the wall clock, or at the last record if that is later, and then runs with the time
//! since boot, suspended time included. So no deadline ever moves because somebody set the clock,
//! and the records of a ledger never go back in time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use swarm_protocol::time::Timestamp;

#[derive(Debug, Clone)]
pub struct SteadyClock {
    start: Timestamp,
    boot_at_start: Duration,
}

impl SteadyClock {
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

fn since_boot() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
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
