//! When a service says that it will be back, as a distance from now.

mod said;

use std::time::Duration;

use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde_json::Value;

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
/// Seconds since 1970 are more than the first and fewer than the second for centuries; thousandths are more.
const MOMENTS: [u64; 2] = [1_000_000_000, 100_000_000_000];

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

    /// Seconds until a moment in a field of its own: a number of seconds or of thousandths since 1970, or a date.
    pub fn until_field(self, at: &Value) -> Option<u64> {
        let number = |number: f64| Duration::try_from_secs_f64(number).ok().map(|since| since.as_secs());
        let unix = match at {
            Value::Number(_) => at.as_u64().or_else(|| number(at.as_f64()?)),
            Value::String(text) => match text.trim().parse::<Timestamp>() {
                Ok(stamp) => u64::try_from(stamp.as_second()).ok(),
                Err(_) => text.trim().parse::<f64>().ok().and_then(number),
            },
            _ => None,
        }?;
        let [from, thousandths] = MOMENTS;
        let unix = if unix >= thousandths { unix / 1000 } else { unix };
        (unix >= from).then(|| self.until(unix))
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
    fn a_field_holds_seconds_thousandths_or_a_date() {
        let now = Moment { unix_secs: 1_794_916_800, minute_of_day: 12 * 60 };
        for (field, expected) in [
            ("1794920400", Some(3600)),
            ("1794920400.9", Some(3600)),
            ("1794920400000", Some(3600)),
            ("\"1794920400\"", Some(3600)),
            ("\"2026-11-17T13:00:00Z\"", Some(3600)),
            ("\"2026-11-17T13:00:00.250+01:00\"", Some(0)),
            ("1794900000", Some(0)),
            ("7200", None),
            ("-1", None),
            ("1e300", None),
            ("\"soon\"", None),
            ("null", None),
        ] {
            let value: Value = serde_json::from_str(field).expect("a value");
            assert_eq!(now.until_field(&value), expected, "{field}");
        }
    }

    #[test]
    fn a_moment_in_the_past_is_now() {
        let now = Moment { unix_secs: 1000, minute_of_day: 0 };
        assert_eq!((now.until(1500), now.until(10)), (500, 0));
    }
}
