//! Recordings that nobody has made: those there are, with other numbers, other times, another order of members. What is concluded
//! stays the same.

use serde_json::Value;
use swarm_agents::Conclusion;

use crate::agents_captures::{Recording, agents, recording, table, word};

/// What is concluded at the end, and what while it goes on.
fn concluded(recording: &Recording, after: bool) -> (String, String) {
    (word(&recording.as_recorded(after)), word(&recording.live()))
}

/// Which recordings conclude something else in other words.
fn changed(words: impl Fn(&str) -> String, meant: impl Fn(&str) -> bool) -> (usize, Vec<String>) {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (name, _, after, _) in table().into_iter().filter(|(name, ..)| meant(name)) {
        let known = recording(&name);
        let other = known.reworded(&words);
        tried += 1;
        let (was, is) = (concluded(&known, after), concluded(&other, after));
        if was != is {
            wrong.push(format!("{name}: {was:?} became {is:?}"));
        }
    }
    (tried, wrong)
}

/// The members of each object the other way round, at every depth; blanks as another version would set them.
fn turned_round(text: &str) -> String {
    text.lines()
        .map(|line| match serde_json::from_str::<Value>(line) {
            Ok(value @ Value::Object(_)) => format!("{}\n", written(&value)),
            _ => format!("{line}\n"),
        })
        .collect()
}

fn written(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .rev()
                .map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), written(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Every number as a word of its own, put through `other`.
fn numbers(text: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !in_word(first) {
            told.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        let (found, after) = rest.split_at(end);
        told.push_str(&other(found).unwrap_or_else(|| found.to_owned()));
        rest = after;
    }
    told
}

#[test]
fn the_order_of_members_means_nothing() {
    let (tried, wrong) = changed(turned_round, |_| true);
    assert!(tried > 300 && wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Ends of lines as another system writes them.
#[test]
fn the_ends_of_lines_mean_nothing() {
    let (_, wrong) = changed(|text| text.replace('\n', "\r\n"), |_| true);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_server_that_fails_fails_whatever_its_number() {
    let servers = |name: &str| name.contains("server_error");
    for (code, phrase) in [
        ("502", "Bad Gateway"),
        ("503", "Service Unavailable"),
        ("504", "Gateway Timeout"),
        ("520", "Web server is returning an unknown error"),
        ("529", "Overloaded"),
    ] {
        let words = |text: &str| {
            let text = numbers(text, |number| (number == "500").then(|| code.to_owned()));
            ["Internal Server Error", "Internal server error"]
                .iter()
                .fold(text, |text, old| text.replace(old, phrase))
        };
        let (tried, wrong) = changed(words, servers);
        assert!(tried >= 9 && wrong.is_empty(), "{code}: {} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// Tries, delays, ports and process ids: numbers of four digits and more, and those behind a sign of a port, are nobody's code.
#[test]
fn ports_pids_and_request_numbers_mean_nothing() {
    let other = |number: &str| {
        let plain = number.len() >= 4 && number.len() <= 6 && number.bytes().all(|b| b.is_ascii_digit());
        // Years and what a test server calls itself stay.
        let kept = ["2025", "2026", "2027", "2030"].contains(&number);
        (plain && !kept).then(|| number.bytes().map(|b| char::from(b'1' + (b - b'0' + 3) % 9)).collect())
    };
    let (_, wrong) = changed(|text| numbers(text, other), |name| !name.contains("overflow"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A program in another language of hours: `2:46 AM` or `02:46`, with a zone or without.
#[test]
fn a_used_up_allowance_is_one_however_its_hour_is_written() {
    let quotas: Vec<String> = weather("quota");
    assert!(quotas.len() >= 9, "{quotas:?}");
    for name in quotas {
        let known = recording(&name);
        let was = word(&known.as_recorded(true));
        for (from, to) in [
            (" AM", " am"),
            (" AM", " AM UTC"),
            (" AM", " AM PST"),
            (" AM", "AM (America/New_York)"),
            ("2:18am (UTC)", "02:18 (UTC)"),
            ("2:18am (UTC)", "2:18 a.m. (UTC)"),
            ("2:18am (UTC)", "Nov 15 at 2:18am (Europe/Berlin)"),
            ("2:18am (UTC)", "2am"),
            ("try again at", "try again on Nov 16, 2026 at"),
            ("You've hit your usage limit", "You\u{2019}ve hit your usage limit"),
            ("You\u{2019}ve hit your usage limit", "You've hit your usage limit"),
            ("5-hour limit", "weekly limit"),
            ("5-hour limit", "session limit"),
        ] {
            let other = known.reworded(|text| text.replace(from, to));
            let is = word(&other.as_recorded(true));
            assert_eq!(was, is, "{name}: {from:?} as {to:?}");
        }
    }
}

/// A reset is where it was said, and not a day away from it, in whatever zone the machine is not.
#[test]
fn a_reset_is_a_distance_of_hours_and_never_of_the_past() {
    for name in weather("quota") {
        let Conclusion::Failed(failure) = recording(&name).as_recorded(true) else { continue };
        if let Some(secs) = failure.resets_in_secs {
            assert!((60..=24 * 3600).contains(&secs), "{name}: {secs} s");
        }
    }
}

/// What is judged while a program still tries again is what its end would say.
#[test]
fn what_is_judged_on_the_way_agrees_with_the_end() {
    let mut wrong = Vec::new();
    // Where nothing is concluded on the way, the end is waited for.
    for (name, class, after, _) in table().into_iter().filter(|(.., live)| live != "-") {
        let known = recording(&name);
        let (end, live) = (known.as_recorded(after), known.live());
        // One that was cut short by whoever recorded it has no end that could disagree.
        let (Conclusion::Failed(end), Conclusion::Failed(live)) = (end, live) else { continue };
        let (end, live) = (end.class.consequence(), live.class.consequence());
        let quiet = format!("{live:?}") == "Silence";
        if end != live && !quiet && class != "interrupted" {
            wrong.push(format!("{name}: {live:?} on the way, {end:?} at the end"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn weather(of: &str) -> Vec<String> {
    let text = std::fs::read_to_string(agents().join("weather.txt")).expect("weather.txt");
    let rows = text.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(' '));
    rows.filter_map(|row| row.split_whitespace().last())
        .filter(|name| *name != "-")
        .map(str::to_owned)
        .collect()
}
