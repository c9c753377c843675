//! Moments and lengths of time for people.

use swarm_protocol::time::Timestamp;

/// `2026-01-13 10:00:05`, in the time zone of the person.
pub fn moment(at: Timestamp) -> String {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(moment) => moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => at.to_string(),
    }
}

/// `10:00:05`, in the time zone of the person.
pub fn time_of_day(at: Timestamp) -> String {
    moment(at).split(' ').next_back().unwrap_or_default().to_owned()
}

/// `10:00:05` on the same day, else with the date.
pub fn near(at: Timestamp, now: Timestamp) -> String {
    let (text, today) = (moment(at), moment(now));
    if text.split(' ').next() == today.split(' ').next() { time_of_day(at) } else { text }
}

/// `45s`, `3m 10s`, `2h 5m`, `4d 3h`: two units at most, because nobody reads a third.
pub fn length(secs: u64) -> String {
    let two = |big: u64, big_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{big}{big_unit}"),
        _ => format!("{big}{big_unit} {small}{small_unit}"),
    };
    match secs {
        0..60 => format!("{secs}s"),
        60..3600 => two(secs / 60, "m", secs % 60, "s"),
        3600..86_400 => two(secs / 3600, "h", secs % 3600 / 60, "m"),
        _ => two(secs / 86_400, "d", secs % 86_400 / 3600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_two_units_at_most() {
        let cases =
            [(0, "0s"), (59, "59s"), (60, "1m"), (190, "3m 10s"), (7500, "2h 5m"), (356_400, "4d 3h")];
        for (secs, words) in cases {
            assert_eq!(length(secs), words);
        }
    }
}
