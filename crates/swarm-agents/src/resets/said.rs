//! The moment that a sentence of a service names: a date, a time of day, or a length of time.

use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan, Zoned};
use regex::{Captures, Regex};

/// A time of day this far back was the moment of the reset, not tomorrow's: clocks differ, and sentences get old
/// while a program tries again.
const JUST_NOW: SignedDuration = SignedDuration::from_hours(2);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// What has to stand before a moment: any other date in a sentence is about something else.
const CUE: &str = r"(?:try again|retry|resets?|renews?|regain access|available(?: again)?|back)";
/// `7:50 pm`, `7pm`, `19:50`, `19:50:00.000`.
const CLOCK: &str =
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?)?(?: ?(?P<half>am|pm)\b)?";
const ZONE: &str = r"(?: ?\(?(?P<zone>utc|gmt|z\b|[a-z]+/[a-z_]+(?:/[a-z_]+)?)\)?)?";

static MONTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>[0-9]{4}))?";
    Regex::new(&format!(r"{CUE}[^0-9\n]{{0,20}}?\b{date}(?:,? (?:at )?{CLOCK}{ZONE})?")).ok()
});
static ISO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})";
    Regex::new(&format!(r"{CUE}[^0-9\n]{{0,20}}?\b{date}(?:(?:t|,? (?:at )?){CLOCK}{ZONE})?")).ok()
});
static TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"{CUE}:? (?:at |again at )?{CLOCK}{ZONE}")).ok());
static LENGTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"[0-9]+(?:\.[0-9]+)? ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b";
    let packed = r"(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?\b";
    Regex::new(&format!(r"{CUE} (?:in|after) (?P<length>{part}(?:(?:,| and|, and)? ?{part})*|{packed})")).ok()
});
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([0-9]+)(?:\.[0-9]+)? ?([dhms])").ok());

/// Seconds from `now` until the moment that is named; 0 when it has come, none when none is named.
pub fn until(text: &str, now: &Zoned) -> Option<u64> {
    let text = text.to_lowercase();
    let seconds = |at: Zoned| u64::try_from(at.duration_since(now).as_secs()).unwrap_or_default();
    if let Some(said) = MONTH.as_ref()?.captures(&text) {
        return on_a_day_of_a_month(&said, now).map(seconds);
    }
    if let Some(said) = ISO.as_ref()?.captures(&text) {
        let date = Date::new(number(&said, "year")?, number(&said, "month")?, number(&said, "day")?).ok()?;
        return at(date, &said, &zone(&said, now)).map(seconds);
    }
    if let Some(length) = LENGTH.as_ref()?.captures(&text) {
        return length_of(length.name("length")?.as_str());
    }
    let said = TIME.as_ref()?.captures(&text)?;
    // A bare number is no time of day.
    if said.name("minute").is_none() && said.name("half").is_none() {
        return None;
    }
    next_time_of_day(&said, now).map(seconds)
}

/// Without its year it is the next such day; one that has just been counts.
fn on_a_day_of_a_month(said: &Captures<'_>, now: &Zoned) -> Option<Zoned> {
    let zone = zone(said, now);
    let name = said.name("month")?.as_str();
    let month = i8::try_from(MONTHS.iter().position(|month| *month == name)? + 1).ok()?;
    let day = number(said, "day")?;
    if let Some(year) = number(said, "year") {
        return at(Date::new(year, month, day).ok()?, said, &zone);
    }
    let year = now.with_time_zone(zone.clone()).year();
    let on = |year| at(Date::new(year, month, day).ok()?, said, &zone);
    on(year).filter(|at| !is_long_past(at, now)).or_else(|| on(year.checked_add(1)?))
}

fn next_time_of_day(said: &Captures<'_>, now: &Zoned) -> Option<Zoned> {
    let zone = zone(said, now);
    let today = now.with_time_zone(zone.clone()).date();
    // Yesterday too: shortly after midnight, 11:59 PM was a minute ago.
    [-1, 0, 1, 2]
        .into_iter()
        .filter_map(|days| at(today.checked_add(days.days()).ok()?, said, &zone))
        .find(|at| !is_long_past(at, now))
}

fn is_long_past(at: &Zoned, now: &Zoned) -> bool {
    now.duration_since(at) > JUST_NOW
}

/// The moment in its zone, so that a change of the clocks in between is counted.
fn at(date: Date, said: &Captures<'_>, zone: &TimeZone) -> Option<Zoned> {
    date.to_datetime(clock(said)?).to_zoned(zone.clone()).ok()
}

/// Midnight where only a date is named.
fn clock(said: &Captures<'_>) -> Option<Time> {
    if said.name("hour").is_none() {
        return Some(Time::midnight());
    }
    let hour: i8 = number(said, "hour")?;
    let minute = said.name("minute").map_or(Some(0), |_| number(said, "minute"))?;
    let hour = match said.name("half").map(|half| half.as_str()) {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("pm") => hour % 12 + 12,
        Some(_) => hour % 12,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// The zone that is named, or the one of the wall clock.
fn zone(said: &Captures<'_>, now: &Zoned) -> TimeZone {
    let here = || now.time_zone().clone();
    match said.name("zone").map(|zone| zone.as_str()) {
        None => here(),
        Some("utc" | "gmt" | "z") => TimeZone::UTC,
        Some(name) => TimeZone::get(name).unwrap_or_else(|_| here()),
    }
}

/// `3 days 4 hours`, `18h31m10s`.
fn length_of(text: &str) -> Option<u64> {
    let parts = PART.as_ref()?.captures_iter(text);
    let seconds = parts.filter_map(|part| {
        let unit = match part.get(2)?.as_str() {
            "d" => 86_400,
            "h" => 3600,
            "m" => 60,
            _ => 1,
        };
        part.get(1)?.as_str().parse::<u64>().ok()?.checked_mul(unit)
    });
    seconds.reduce(u64::saturating_add)
}

fn number<N: std::str::FromStr>(said: &Captures<'_>, name: &str) -> Option<N> {
    said.name(name)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;

    /// Where the clocks go back on the last Sunday of October and forward on that of March.
    fn in_berlin(time: &str) -> Zoned {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        time.parse::<jiff::civil::DateTime>().expect("a time").to_zoned(zone).expect("a moment")
    }

    fn check(now: &str, cases: &[(&str, Option<u64>)]) {
        for (text, expected) in cases {
            assert_eq!(until(text, &in_berlin(now)), *expected, "{text} at {now}");
        }
    }

    #[test]
    fn a_time_of_day_that_has_just_been_is_now_and_not_tomorrow() {
        check(
            "2026-11-17T10:27",
            &[
                ("try again at 10:26 AM.", Some(0)),
                ("try again at 8:28 AM", Some(0)),
                ("try again at 8:20 AM", Some(22 * HOUR - 7 * 60)),
                ("try again at 10:28 AM", Some(60)),
                ("Try again at 19:50", Some(9 * HOUR + 23 * 60)),
            ],
        );
        check("2026-11-17T00:01", &[("try again at 11:59 PM", Some(0)), ("try again at 12:00 AM", Some(0))]);
    }

    #[test]
    fn dates_are_read_with_and_without_their_time_year_and_zone() {
        check(
            "2026-11-17T10:00",
            &[
                ("Try again at Nov 19th, 2026 7:50 PM.", Some(57 * HOUR + 50 * 60)),
                ("resets November 19 at 7pm", Some(57 * HOUR)),
                ("resets Nov 18", Some(14 * HOUR)),
                ("resets Nov 17, 9am", Some(0)),
                ("You will regain access on 2026-11-18 at 10:00 UTC", Some(25 * HOUR)),
                ("regain access on 2026-11-18 at 10:00", Some(24 * HOUR)),
                ("regain access on 2026-11-18", Some(14 * HOUR)),
                ("resets at 2026-11-17T10:00:00Z", Some(HOUR)),
                ("resets 2026-11-17 09:30:00.000 utc", Some(30 * 60)),
                ("try again at Nov 16th, 2026 7:50 PM", Some(0)),
                ("resets Jan 2 at 10am", Some(46 * 24 * HOUR)),
                ("try again at Nov 31st, 2026 7:50 PM", None),
                ("regain access on 2026-13-01", None),
                ("resets 3pm (utc)", Some(6 * HOUR)),
            ],
        );
        let far = until("regain access on 2030-01-01 at 10:00 UTC", &in_berlin("2026-11-17T11:00"));
        assert_eq!(far, Some(1141 * 24 * HOUR));
    }

    #[test]
    fn a_change_of_the_clocks_in_between_is_counted() {
        check("2026-10-24T23:00", &[("try again at 8:00 AM", Some(10 * HOUR))]);
        check("2026-03-28T23:00", &[("try again at 8:00 AM", Some(8 * HOUR))]);
        check("2026-10-24T23:00", &[("try again at Oct 26th, 2026 8:00 AM", Some(34 * HOUR))]);
    }

    #[test]
    fn a_length_of_time_is_one_and_other_numbers_are_not() {
        check(
            "2026-11-17T10:00",
            &[
                ("Try again in 3 days 4 hours 12 minutes.", Some((3 * 24 + 4) * HOUR + 12 * 60)),
                ("Your quota will reset after 18h31m10s.", Some(18 * HOUR + 31 * 60 + 10)),
                ("retry in 5.5s", Some(5)),
                ("try again in 1 hour and 30 minutes", Some(HOUR + 30 * 60)),
                ("retry 5 of 10", None),
                ("resets 7", None),
                ("it was made on 2030-01-01 at 10:00", None),
                ("try again in a while, before 2030", None),
                ("", None),
            ],
        );
    }
}
