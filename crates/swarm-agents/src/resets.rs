//! When a service says that it will be back, as a distance from now.

mod said;

use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// The moment at which something is read, as a person's clock and as a machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub unix_secs: u64,
    /// Of the local wall clock: programs name a time of day without a zone.
    pub minute_of_day: u32,
}

const DAY: i64 = 24 * 60;
/// No wall clock is further ahead of UTC than this, in minutes.
const AHEAD_MAX: i64 = 14 * 60;

impl Moment {
    pub fn now() -> Self {
        let now = Zoned::now();
        Self {
            unix_secs: u64::try_from(now.timestamp().as_second()).unwrap_or_default(),
            minute_of_day: u32::try_from(minute_of_day(&now)).unwrap_or_default(),
        }
    }

    /// Seconds until a moment that a machine named.
    pub fn until(self, unix_secs: u64) -> u64 {
        unix_secs.saturating_sub(self.unix_secs)
    }

    /// Seconds until what is named in "try again at 2:16 AM", "resets in 3 hours" or "regain access on
    /// 2030-01-01 at 10:00 UTC"; 0 when that was a short while ago.
    pub fn until_said(self, text: &str) -> Option<u64> {
        said::until(text, &self.zoned()?)
    }

    /// This moment with the zone of its wall clock: what lies behind a change of the clocks needs all of it.
    fn zoned(self) -> Option<Zoned> {
        // Whole minutes, as on the clock: a wait may be some seconds longer, never shorter.
        let whole = i64::try_from(self.unix_secs / 60 * 60).ok()?;
        let stamp = Timestamp::from_second(whole).ok()?;
        let here = stamp.to_zoned(TimeZone::system());
        if minute_of_day(&here) == i64::from(self.minute_of_day) {
            return Some(here);
        }
        // A clock of another place: only how far it is ahead is known.
        let ahead = (i64::from(self.minute_of_day) - whole / 60).rem_euclid(DAY);
        let ahead = if ahead > AHEAD_MAX { ahead - DAY } else { ahead };
        let offset = Offset::from_seconds(i32::try_from(ahead * 60).ok()?).ok()?;
        Some(stamp.to_zoned(TimeZone::fixed(offset)))
    }
}

fn minute_of_day(at: &Zoned) -> i64 {
    i64::from(at.hour()) * 60 + i64::from(at.minute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_the_next_one() {
        let night = Moment { unix_secs: 1000, minute_of_day: 23 * 60 + 50 };
        assert_eq!(night.until_said("try again at 2:16 AM."), Some((10 + 2 * 60 + 16) * 60));
        assert_eq!(night.until_said("or try again at 11:55 pm"), Some(5 * 60));
        let noon = Moment { unix_secs: 1000, minute_of_day: 12 * 60 };
        assert_eq!(noon.until_said("try again at 12:01 AM"), Some((12 * 60 + 1) * 60));
        assert_eq!(noon.until_said("try again at 25:00 AM"), None);
        assert_eq!(noon.until_said("try again later"), None);
    }

    #[test]
    fn a_moment_in_the_past_is_now() {
        let now = Moment { unix_secs: 1000, minute_of_day: 0 };
        assert_eq!((now.until(1500), now.until(10)), (500, 0));
    }
}
