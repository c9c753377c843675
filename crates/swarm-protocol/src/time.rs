//! A moment on the coordinator's steady clock, in whole milliseconds.
//!
//! Written as RFC 3339 with exactly three decimals, so that the text is as long in every record and
//! reading it back needs no calendar library on the hot path of a replay.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Timestamp(pub u64);

impl Timestamp {
    pub const ZERO: Self = Self(0);
    /// The last moment that has a four-digit year.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// This moment and so many seconds.
    pub fn plus_secs(self, secs: u64) -> Self {
        self.plus_ms(secs.saturating_mul(1000))
    }

    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms).min(Self::MAX.0))
    }

    /// The time of day, with the date before it where that is not the day of `now`: `10:00:00 UTC`.
    ///
    /// For words that travel: where they are made nobody knows the time zone of whoever reads them. What a terminal says of
    /// itself is in the time of that terminal.
    pub fn clock(self, now: Self) -> String {
        let (text, now) = (self.to_string(), now.to_string());
        if text[..10] == now[..10] { format!("{} UTC", &text[11..19]) } else { self.dated() }
    }

    /// `2026-01-13 10:00:00 UTC`.
    pub fn dated(self) -> String {
        format!("{} UTC", self.to_string()[..19].replace('T', " "))
    }

    /// Whole seconds from `earlier` to here, 0 if it is later.
    pub fn secs_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0) / 1000
    }

    /// Reads `2026-01-13T10:00:00.000Z`, the only form we write.
    pub fn parse(text: &str) -> Option<Self> {
        let b = text.as_bytes();
        if b.len() != 24 || b[4] != b'-' || b[7] != b'-' || b[10] != b'T' || b[13] != b':' || b[16] != b':' {
            return None;
        }
        if b[19] != b'.' || b[23] != b'Z' {
            return None;
        }
        let num = |from: usize, to: usize| -> Option<u64> {
            b[from..to].iter().try_fold(0u64, |n, d| d.is_ascii_digit().then(|| n * 10 + u64::from(d - b'0')))
        };
        let (year, month, day) = (num(0, 4)?, num(5, 7)?, num(8, 10)?);
        let (hour, minute, second, ms) = (num(11, 13)?, num(14, 16)?, num(17, 19)?, num(20, 23)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let days = u64::try_from(days_from_civil(year as i64, month as i64, day as i64)).ok()?;
        let at = Self((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms);
        // A day that the month does not have comes back as another date.
        (at.to_string() == text).then_some(at)
    }
}

/// Days since 1970-01-01 of a date of the Gregorian calendar (Hinnant's era arithmetic).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secs, ms) = (self.0 / 1000, self.0 % 1000);
        let (year, month, day) = civil_from_days((secs / 86_400) as i64);
        let s = secs % 86_400;
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z", s / 3600, s / 60 % 60, s % 60)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not a time like 2026-01-13T10:00:00.000Z"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_and_read_back_the_same() {
        for ms in
            [0, 951_782_399_999, 951_782_400_000, 1_768_298_400_000, 1_709_164_800_123, Timestamp::MAX.0]
        {
            let at = Timestamp(ms);
            assert_eq!(Timestamp::parse(&at.to_string()), Some(at), "{at}");
        }
        assert_eq!(Timestamp(1_768_298_400_000).to_string(), "2026-01-13T10:00:00.000Z");
    }

    #[test]
    fn a_time_of_day_says_that_it_is_of_no_zone_in_particular() {
        let at = Timestamp(1_768_298_400_000);
        assert_eq!(at.clock(at), "10:00:00 UTC");
        assert_eq!(at.clock(at.plus_secs(86_400)), "2026-01-13 10:00:00 UTC");
    }

    #[test]
    fn a_date_that_does_not_exist_is_refused() {
        assert_eq!(Timestamp::parse("2026-02-30T10:00:00.000Z"), None);
        assert_eq!(Timestamp::parse("2026-02-28T24:00:00.000Z"), None);
        assert_eq!(Timestamp::parse("2026-02-28 10:00:00.000Z"), None);
    }
}
