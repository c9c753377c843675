//! Whether two failures of the checks are the same one: their output without what differs from run to run.

use sha2::{Digest, Sha256};
use swarm_protocol::outcome::{Gate, Next};
use swarm_protocol::plan::BlockKind;

use crate::state::{State, Task};

/// Lines of the output that a blocked task is shown with.
const LINES_SHOWN: usize = 20;

/// Units of time, as tools print them behind a number.
const UNITS: [&str; 18] = [
    "ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes",
    "h", "hour", "hours", "msec",
];

/// Names the failure: the same for outputs that differ only in timings, addresses, places of temporary files and the
/// order of their lines.
pub(super) fn digest(output: &str) -> String {
    let mut lines: Vec<String> = output.lines().map(normal).filter(|line| !line.is_empty()).collect();
    lines.sort();
    crate::hash::hex(&Sha256::digest(lines.join("\n").as_bytes()))[..16].to_string()
}

/// What becomes of a task whose checks failed alike once too often.
pub(super) fn stops(
    state: &State,
    task: &Task,
    (digest, gate): (&str, Option<Gate>),
    output: &str,
) -> Option<Next> {
    let before = task.same_failure.as_ref().filter(|same| same.digest == digest).map_or(0, |same| same.count);
    let (times, most) = (before + 1, state.policy.same_failures_max);
    if most == 0 || times < most {
        return None;
    }
    let lines: Vec<&str> = output.lines().collect();
    let shown = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
    let why = match gate {
        Some(Gate::Scan) => format!("its scan found the same {times} times in a row:\n{shown}"),
        _ => format!("its checks failed {times} times in a row in the same way:\n{shown}"),
    };
    Some(Next::Blocked { block: BlockKind::Retries, why })
}

fn normal(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (put, used) = next_word(rest, first, out.chars().last());
        out.push_str(put);
        rest = &rest[used..];
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands for the beginning of the text, and how much of it that is.
fn next_word(text: &str, first: char, before: Option<char>) -> (&str, usize) {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let Some(colour) = text.strip_prefix("\u{1b}[") {
        let end = colour.find(|c: char| c.is_ascii_alphabetic()).map_or(colour.len(), |at| at + 1);
        return ("", 2 + end);
    }
    for place in ["/tmp/", "/var/tmp/", "/var/folders/", "/dev/shm/"] {
        if text.starts_with(place) {
            let end = text.find(|c: char| c.is_whitespace() || "\"'`,;)]".contains(c)).unwrap_or(text.len());
            return ("TMP", end);
        }
    }
    if !in_word && text.starts_with("0x") {
        let digits = text[2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(text.len(), |at| at + 2);
        return ("#", digits);
    }
    if first.is_ascii_digit() && !in_word {
        return number(text);
    }
    (&text[..first.len_utf8()], first.len_utf8())
}

/// A moment, a span of time or a long number (a process, a port, a stamp) is `#`; others are themselves: that two
/// tests fail and not three is news.
fn number(text: &str) -> (&str, usize) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if rest.starts_with(':') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) && digits.len() <= 2 {
        let clock = text.find(|c: char| !c.is_ascii_digit() && !".:".contains(c)).unwrap_or(text.len());
        return ("#", clock);
    }
    let spaced = rest.strip_prefix(' ').unwrap_or(rest);
    let unit = &spaced[..spaced.find(|c: char| !c.is_alphabetic()).unwrap_or(spaced.len())];
    if UNITS.contains(&unit) {
        return ("#", text.len() - spaced.len());
    }
    if digits.len() >= 5 { ("#", end) } else { (digits, end) }
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn what_differs_from_run_to_run_does_not_make_another_failure() {
        let same = [
            ("test result: FAILED in 0.31s", "test result: FAILED in 12.9s"),
            ("took 5 ms", "took 17 ms"),
            ("12:03:55 error: no", "12:04:01 error: no"),
            ("/tmp/pytest-1/a.py failed", "/tmp/pytest-22/a.py failed"),
            ("thread 'main' (48213) panicked", "thread 'main' (51877) panicked"),
            ("at 0x7ffd1a", "at 0x55aa10"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a failed\nb failed\n", "b failed\n\na failed"),
        ];
        for (one, other) in same {
            assert_eq!(digest(one), digest(other), "{one} / {other}");
        }
        let other = [
            ("3 tests failed", "2 tests failed"),
            ("a failed", "b failed"),
            ("src/a.rs:10: no", "src/a.rs:11: no"),
            ("", "no"),
        ];
        for (one, other) in other {
            assert_ne!(digest(one), digest(other), "{one} / {other}");
        }
    }
}
