//! When a service says that it will be back, as a distance from now.

use std::sync::LazyLock;

use jiff::Zoned;
use regex::Regex;

/// The moment at which something is read, as a person's clock and as a machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub unix_secs: u64,
    /// Of the local wall clock: programs name a time of day without a zone.
    pub minute_of_day: u32,
}

impl Moment {
    pub fn now() -> Self {
        let now = Zoned::now();
        let minute = u32::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute())).unwrap_or_default();
        Self {
            unix_secs: u64::try_from(now.timestamp().as_second()).unwrap_or_default(),
            minute_of_day: minute,
        }
    }

    /// Seconds until a moment that a machine named.
    pub fn until(self, unix_secs: u64) -> u64 {
        unix_secs.saturating_sub(self.unix_secs)
    }

    /// Seconds until the time of day in "try again at 2:16 AM".
    pub fn until_said(self, text: &str) -> Option<u64> {
        let said = AT.as_ref()?.captures(text)?;
        let number = |n: usize| said.get(n)?.as_str().parse::<u32>().ok();
        let (hour, minute) = (number(1)?, number(2)?);
        let afternoon = said.get(3)?.as_str().eq_ignore_ascii_case("pm");
        if !(1..=12).contains(&hour) || minute > 59 {
            return None;
        }
        let at = (hour % 12 + if afternoon { 12 } else { 0 }) * 60 + minute;
        Some(u64::from((at + DAY - self.minute_of_day % DAY) % DAY) * 60)
    }
}

const DAY: u32 = 24 * 60;

static AT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"try again at ([0-9]{1,2}):([0-9]{2}) ?([AaPp][Mm])").ok());

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
