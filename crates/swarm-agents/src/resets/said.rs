//! The moment that a sentence of a service names: a date, a time of day, or a length of time.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, ToSpan, Zoned};
use regex::{Captures, Regex};

/// A time of day this far back was the moment of the reset, not tomorrow's: clocks differ, and sentences get old
/// while a program tries again.
const JUST_NOW: SignedDuration = SignedDuration::from_hours(2);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// No clock on earth is further from UTC.
const AHEAD_MAX_SECS: i32 = 14 * 3600;

/// What has to stand before a moment: any other date in a sentence is about something else.
const CUE: &str = r"(?:try again|retry(?:ing)?|resets?|renews?|regain access|available(?: again)?|back)";
/// `7:50 pm`, `7 p.m.`, `19:50`, `19:50:00.000`.
const CLOCK: &str = r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?)?(?: ?(?P<half>[ap]\.?m\b\.?))?";
/// `+01:00`, `-0800`, `GMT+1`, `UTC`, `Z`, `PST`, `Europe/Berlin`, `Etc/GMT+5`.
const ZONE: &str = r"(?: ?\(?(?P<zone>(?:(?:utc|gmt) ?)?[+-][0-9]{2}:?[0-9]{2}\b|(?:utc|gmt) ?[+-][0-9]{1,2}(?::[0-9]{2})?\b|utc|gmt|z\b|[pmce][sd]?t\b|ces?t\b|bst\b|jst\b|[a-z]+/[a-z0-9_+-]+(?:/[a-z_-]+)?)\)?)?";
/// Behind the beginning of its name: `Tuesday`, `Tue`.
const DAY_ENDS: &str = r"(?:s|rs|day|sday|nesday|rsday|urday)?\b";

static MONTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>[0-9]{4}))?";
    Regex::new(&format!(r"{CUE}[^0-9\n]{{0,20}}?\b{date}(?:,? (?:at )?{CLOCK}{ZONE})?")).ok()
});
/// `21 Oct 2026 07:28:00 GMT`, as HTTP writes it too.
static DAY_FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\b\.?(?:,? (?P<year>[0-9]{4})\b)?";
    Regex::new(&format!(r"{CUE}[^0-9\n]{{0,20}}?\b{date}(?:,? (?:at )?{CLOCK}{ZONE})?")).ok()
});
static ISO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})";
    Regex::new(&format!(r"{CUE}[^0-9\n]{{0,20}}?\b{date}(?:(?:t|,? (?:at )?){CLOCK}{ZONE})?")).ok()
});
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let on = r"(?:(?:on )?(?P<on>today|tomorrow|mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?";
    let then = format!(r"(?:,? (?:on )?(?P<then>today|tomorrow|mon|tue|wed|thu|fri|sat|sun){DAY_ENDS})?");
    Regex::new(&format!(r"{CUE}:? {on}(?:at |again at )?{CLOCK}{ZONE}{then}")).ok()
});
/// A day and no time: its beginning.
static DAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let on = format!(r"(?:on |next )?(?P<on>tomorrow|mon|tue|wed|thu|fri|sat|sun){DAY_ENDS}");
    Regex::new(&format!(r"{CUE}:? {on}")).ok()
});
static LENGTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"[0-9]+(?:\.[0-9]+)? ?(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b";
    let packed = r"(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?\b";
    let about = r"(?:about |approximately |~ ?)?";
    let length = format!(r"(?P<length>{part}(?:(?:,| and|, and)? ?{part})*|{packed})");
    let field = r#"(?:retry|reset)_?delay\\*"?: ?\\*"?"#;
    Regex::new(&format!(r"(?:{CUE} (?:in|after):? |{field}){about}{length}")).ok()
});
/// A field that counts seconds: `Retry-After: 120`, `"resets_in_seconds": 7200`.
static SECONDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let field = r"(?:resets?_(?:in|after)_seconds|retry[-_]after(?:_seconds)?)";
    Regex::new(&format!(r#"{field}\\*"?(?::|=) ?\\*"?(?P<secs>[0-9]+(?:\.[0-9]+)?)s?\b"#)).ok()
});
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([0-9]+(?:\.[0-9]+)?) ?([wdhms])").ok());
/// `usage limit reached|1794710354`, `resets_at: 1794710354`, `X-RateLimit-Reset: 1794710354000`; with thousandths too.
static STAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let cue = r#"(?:limit reached ?\||resets?(?:[ _-]?(?:at|time|timestamp))?\\*"?(?::|=)? ?\\*"?)"#;
    Regex::new(&format!(r"{cue}(?P<secs>1[6-9][0-9]{{8}})(?:[0-9]{{3}})?\b")).ok()
});

/// Seconds from `now` until the moment that is named; 0 when it has come, none when none is named.
pub fn until(text: &str, now: &Zoned) -> Option<u64> {
    // Between a time and its half of the day JavaScript writes a blank of its own.
    let text = text.to_lowercase().replace(['\u{202f}', '\u{a0}'], " ");
    let seconds = |at: Zoned| u64::try_from(at.duration_since(now).as_secs()).unwrap_or_default();
    if let Some(said) = STAMP.as_ref()?.captures(&text) {
        let at: i64 = number(&said, "secs")?;
        return Some(u64::try_from(at - now.timestamp().as_second()).unwrap_or_default());
    }
    if let Some(said) = MONTH.as_ref()?.captures(&text) {
        return on_a_day_of_a_month(&said, now).map(seconds);
    }
    if let Some(said) = DAY_FIRST.as_ref()?.captures(&text) {
        return on_a_day_of_a_month(&said, now).map(seconds);
    }
    if let Some(said) = ISO.as_ref()?.captures(&text) {
        let date = Date::new(number(&said, "year")?, number(&said, "month")?, number(&said, "day")?).ok()?;
        return at(date, &said, &zone(&said, now)).map(seconds);
    }
    if let Some(length) =
        LENGTH.as_ref()?.captures(&text).and_then(|said| length_of(said.name("length")?.as_str()))
    {
        return Some(length);
    }
    if let Some(said) = SECONDS.as_ref()?.captures(&text) {
        return Some(Duration::try_from_secs_f64(number(&said, "secs")?).ok()?.as_secs());
    }
    // A bare number is no time of day.
    let is_time = |said: &Captures<'_>| said.name("minute").is_some() || said.name("half").is_some();
    let time = TIME.as_ref()?.captures(&text).filter(is_time);
    next_time_of_day(&time.or_else(|| DAY.as_ref()?.captures(&text))?, now).map(seconds)
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
    (-1..=7)
        .filter_map(|days: i64| Some((days, today.checked_add(days.days()).ok()?)))
        .filter(|(days, date)| is_the_day(said, *days, *date))
        .filter_map(|(_, date)| at(date, said, &zone))
        .find(|at| !is_long_past(at, now))
}

/// Whether it is the day that is named beside a time, so many days from today; any is where none is named.
fn is_the_day(said: &Captures<'_>, days: i64, date: Date) -> bool {
    match said.name("on").or_else(|| said.name("then")).map(|on| on.as_str()) {
        None => true,
        Some("today") => days == 0,
        Some("tomorrow") => days == 1,
        Some(name) => {
            let nth = usize::try_from(date.weekday().to_monday_zero_offset()).ok();
            nth.and_then(|nth| WEEKDAYS.get(nth)).is_some_and(|weekday| *weekday == name)
        }
    }
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
        Some(half) if half.starts_with('p') => hour % 12 + 12,
        Some(_) => hour % 12,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// The zone that is named, or the one of the wall clock.
fn zone(said: &Captures<'_>, now: &Zoned) -> TimeZone {
    let here = || now.time_zone().clone();
    let named = match said.name("zone").map(|zone| zone.as_str()) {
        None => return here(),
        Some("utc" | "gmt" | "z" | "etc/utc" | "etc/gmt") => return TimeZone::UTC,
        Some(name) => name,
    };
    if let Some(ahead) = ahead(named) {
        return Offset::from_seconds(ahead).map_or_else(|_| here(), TimeZone::fixed);
    }
    match rules(named) {
        Some(rules) => TimeZone::posix(rules).unwrap_or_else(|_| here()),
        None => TimeZone::get(named).unwrap_or_else(|_| here()),
    }
}

/// Seconds ahead of UTC: `+01:00`, `-0800`, `gmt+1`, `utc+5:30`, and `etc/gmt+5`, which by an old custom is behind it.
fn ahead(zone: &str) -> Option<i32> {
    if let Some(behind) = zone.strip_prefix("etc/gmt") {
        return ahead(behind).map(|secs| -secs);
    }
    let distance = zone.trim_start_matches("utc").trim_start_matches("gmt").trim_start();
    let (sign, digits) = match distance.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, distance.strip_prefix('-')?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(both) => both,
        None if digits.len() == 4 => digits.split_at(2),
        None => (digits, "0"),
    };
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    (seconds <= AHEAD_MAX_SECS).then_some(sign * seconds)
}

/// Zones by their short names, in summer and in winter: people write either the year round.
fn rules(zone: &str) -> Option<&'static str> {
    match zone {
        "pst" | "pdt" | "pt" => Some("PST8PDT,M3.2.0,M11.1.0"),
        "mst" | "mdt" | "mt" => Some("MST7MDT,M3.2.0,M11.1.0"),
        "cst" | "cdt" | "ct" => Some("CST6CDT,M3.2.0,M11.1.0"),
        "est" | "edt" | "et" => Some("EST5EDT,M3.2.0,M11.1.0"),
        "cet" | "cest" => Some("CET-1CEST,M3.5.0,M10.5.0/3"),
        "bst" => Some("GMT0BST,M3.5.0/1,M10.5.0"),
        "jst" => Some("JST-9"),
        _ => None,
    }
}

/// `3 days 4 hours`, `18h31m10s`, `1.5 hours`.
fn length_of(text: &str) -> Option<u64> {
    let parts = PART.as_ref()?.captures_iter(text);
    let seconds = parts.filter_map(|part| {
        let unit = match part.get(2)?.as_str() {
            "w" => 604_800.0,
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            _ => 1.0,
        };
        let many: f64 = part.get(1)?.as_str().parse().ok()?;
        Some(Duration::try_from_secs_f64(many * unit).ok()?.as_secs())
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
    fn the_zone_that_is_named_is_the_one_that_counts() {
        check(
            "2026-11-17T10:00",
            &[
                ("resets at 2026-11-17T12:00:00+02:00", Some(HOUR)),
                ("resets at 2026-11-17T04:00:00-08:00", Some(3 * HOUR)),
                ("resets at 2026-11-17 12:00:00 +0000 UTC", Some(3 * HOUR)),
                ("Access resets at 3:45 PM GMT+1.", Some(5 * HOUR + 45 * 60)),
                ("Access resets at 3:45 PM GMT+5:30.", Some(HOUR + 15 * 60)),
                ("resets at 3:45 PM UTC-5", Some(11 * HOUR + 45 * 60)),
                ("Access resets at 3:45 PM PST.", Some(14 * HOUR + 45 * 60)),
                ("resets Nov 18, 3pm (EST)", Some(35 * HOUR)),
                ("resets 3pm CET", Some(5 * HOUR)),
            ],
        );
        // In summer, whatever its name.
        check("2026-07-17T10:00", &[("resets 3pm PT", Some(14 * HOUR)), ("resets 3pm PST", Some(14 * HOUR))]);
    }

    #[test]
    fn hours_days_and_stamps_are_read_as_programs_write_them() {
        check(
            "2026-11-17T10:00",
            &[
                ("try again at 2:18 p.m.", Some(4 * HOUR + 18 * 60)),
                ("try again at 2:18 a.m. (UTC)", Some(17 * HOUR + 18 * 60)),
                ("resets at 2:18\u{202f}PM", Some(4 * HOUR + 18 * 60)),
                ("resets tomorrow at 9:00 AM", Some(23 * HOUR)),
                ("resets Thursday, 3pm", Some(53 * HOUR)),
                ("resets Tue 9:30 AM", Some(0)),
                ("resets Mon 10:00 AM", Some(6 * 24 * HOUR)),
                ("Claude AI usage limit reached|1794916800", Some(3 * HOUR)),
                ("\"resets_at\": 1794916800000", Some(3 * HOUR)),
                ("resets 17949", None),
            ],
        );
    }

    #[test]
    fn days_of_the_week_and_dates_of_other_customs_are_read() {
        // A Tuesday.
        check(
            "2026-11-17T10:00",
            &[
                ("resets Friday", Some(62 * HOUR)),
                ("try again on Monday.", Some((5 * 24 + 14) * HOUR)),
                ("resets tomorrow", Some(14 * HOUR)),
                ("resets on Tuesday", Some((6 * 24 + 14) * HOUR)),
                ("resets 3pm on Thursday", Some(53 * HOUR)),
                ("resets at 9:00 AM (UTC) tomorrow", Some(24 * HOUR)),
                ("resets 3pm, sunny weather", Some(5 * HOUR)),
                ("try again at 19 November 2026, 7:50 pm", Some(57 * HOUR + 50 * 60)),
                ("resets 19 Nov at 10am", Some(48 * HOUR)),
                ("Retry-After: Tue, 17 Nov 2026 12:00:00 GMT", Some(3 * HOUR)),
                ("resets 1pm (Etc/GMT+5)", Some(9 * HOUR)),
                ("resets 1pm (Etc/GMT-1)", Some(3 * HOUR)),
                ("resets 1pm (Etc/UTC)", Some(4 * HOUR)),
                ("try again on monarchs", None),
                ("retry 3 maybe", None),
            ],
        );
    }

    #[test]
    fn fields_that_count_seconds_are_read_and_what_is_too_large_is_none() {
        check(
            "2026-11-17T10:00",
            &[
                ("Retry-After: 120", Some(120)),
                (r#"{"retry-after":"3600"}"#, Some(HOUR)),
                (r#"{\"resets_in_seconds\": 7200}"#, Some(2 * HOUR)),
                ("retry_after=1.5s", Some(1)),
                (r#""retryDelay": "34.07s""#, Some(34)),
                (r#""quotaResetDelay":"5h10m20.5s""#, Some(5 * HOUR + 620)),
                (r#""quotaResetTimeStamp":"2026-11-17T12:00:00Z""#, Some(3 * HOUR)),
                (r#"{\"resetsAt\":1794916800}"#, Some(3 * HOUR)),
                (r#""X-RateLimit-Reset":"1794916800000""#, Some(3 * HOUR)),
                ("[retrying in 8h 13m attempt #1]", Some(8 * HOUR + 13 * 60)),
                ("retry-after-ms: 1500", None),
                ("Retry-After: 99999999999999999999999", None),
                ("try again in 99999999999999999999999 hours", None),
            ],
        );
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
                ("try again in 3h 20m", Some(3 * HOUR + 20 * 60)),
                ("try again in 1.5 hours", Some(HOUR + 30 * 60)),
                ("resets in about 2hr 5min", Some(2 * HOUR + 5 * 60)),
                ("resets in 1 week", Some(7 * 24 * HOUR)),
                ("retry 5 of 10", None),
                ("resets 7", None),
                ("it was made on 2030-01-01 at 10:00", None),
                ("try again in a while, before 2030", None),
                ("", None),
            ],
        );
    }
}
