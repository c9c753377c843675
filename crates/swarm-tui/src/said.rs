//! Words for numbers, times and previews.

use std::sync::OnceLock;

use swarm_protocol::channel::RunKind;
use swarm_protocol::failure::Usage;
use swarm_protocol::oplog::{PreviewView, StopView};
use swarm_protocol::time::Timestamp;

/// `12s`, `4m`, `2h`, `3d`: one unit is enough to know how old something is.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    match now.secs_since(then) {
        secs if secs < 10 => "now".into(),
        secs if secs < 60 => format!("{}s", secs / 10 * 10),
        secs if secs < 3600 => format!("{}m", secs / 60),
        secs if secs < 86_400 => format!("{}h", secs / 3600),
        secs => format!("{}d", secs / 86_400),
    }
}

/// How a moment is written as `2026-01-13 10:00:05` where this terminal stands.
static WRITTEN: OnceLock<fn(Timestamp) -> String> = OnceLock::new();

/// From now on moments are told in the time of the terminal, as this writes them: only the front end knows its zone.
pub fn moments_are_written(by: fn(Timestamp) -> String) {
    let _ = WRITTEN.set(by);
}

/// `2026-01-13 10:00:05`, of the terminal; of UTC as long as nobody knows better.
fn written(at: Timestamp) -> String {
    WRITTEN.get().map_or_else(|| at.to_string(), |written| written(at))
}

/// The time of day.
pub fn clock(at: Timestamp) -> String {
    written(at)[11..19].to_owned()
}

/// The time of day; of another day its date as well, and of another year nothing but the date.
pub fn moment(at: Timestamp, now: Timestamp) -> String {
    let (text, today) = (written(at), written(now));
    if text[..10] == today[..10] {
        clock(at)
    } else if text[..4] == today[..4] {
        format!("{} {}", &text[5..10], &text[11..16])
    } else {
        text[..10].to_owned()
    }
}

pub fn money(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros / 10_000 % 100)
}

/// `$0.42`; `~$0.42` where a part of it is computed from tokens and prices.
pub fn spent(usage: &Usage) -> String {
    let about = if usage.estimated_micros > 0 { "~" } else { "" };
    format!("{about}{}", money(usage.cost_micros))
}

/// `41k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
    }
}

pub fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// What a command would do, in lines. The first word of a heading stands at the left edge.
pub fn preview(view: &PreviewView) -> Vec<String> {
    if view.nothing {
        return vec!["Nothing would change".into()];
    }
    let mut lines: Vec<String> = view.text.lines().map(str::to_owned).collect();
    let stops: Vec<String> = view.stops.iter().map(stop).collect();
    let says = &view.says;
    for (head, part) in [
        ("Stopped", &stops),
        ("Tasks", &says.tasks),
        ("Commits", &says.commits),
        ("Work", &says.work),
        ("Other commits", &says.foreign),
        ("Cannot be undone", &says.stays),
    ] {
        if !part.is_empty() {
            lines.push(format!("{head}:"));
            lines.extend(part.iter().flat_map(|text| text.lines()).map(|line| format!("  {line}")));
        }
    }
    match &view.checkpoint {
        Some(name) => lines.push(format!("The state before is kept as checkpoint {name}; z brings it back")),
        // Nothing of it is in the ledger, and z would take back something else.
        None if view.facts.is_empty() => {}
        None => lines.push("z takes it back".into()),
    }
    lines
}

fn stop(stop: &StopView) -> String {
    let who = match (&stop.agent, stop.kind) {
        (Some(agent), _) => format!("{agent} on {}", stop.task),
        (None, RunKind::Verify) => format!("the verification of {}", stop.task),
        (None, RunKind::Review) => format!("the review of {}", stop.task),
        (None, _) => format!("{} of {}", stop.run, stop.task),
    };
    match &stop.saved_to {
        None => format!("{who}; nothing is uncommitted"),
        Some(name) => format!("{who}; {} kept at {name}", count(stop.files_in_all as u64, "changed file")),
    }
}

#[cfg(test)]
mod tests {
    use swarm_protocol::operation::{Fact, FactChange};

    use super::*;

    #[test]
    fn only_what_the_ledger_has_is_said_to_be_taken_back() {
        let mut view =
            PreviewView::of_lines("restore", &["1.2 comes back in .swarm/restored/1.2".to_owned()]);
        assert_eq!(preview(&view), ["1.2 comes back in .swarm/restored/1.2"]);
        view.facts = vec![FactChange { fact: Fact::Mode, before: None, after: Some("autopilot".into()) }];
        assert_eq!(preview(&view).last().map(String::as_str), Some("z takes it back"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (money(4_123_000), tokens(41_200), tokens(1_250_000)),
            ("$4.12".into(), "41k".into(), "1.2M".into())
        );
        let ago = |secs: u64| age(Timestamp(10_000_000_000), Timestamp(10_000_000_000 - secs * 1000));
        let at = |text: &str| Timestamp::parse(text).expect("a moment");
        let now = at("2026-01-13T10:00:00.000Z");
        let said = ["2026-01-13T09:30:05.000Z", "2026-01-12T09:30:05.000Z", "2025-12-31T09:30:05.000Z"];
        assert_eq!(said.map(|text| moment(at(text), now)), ["09:30:05", "01-12 09:30", "2025-12-31"]);
        assert_eq!([ago(3), ago(25), ago(250), ago(7300)], ["now", "20s", "4m", "2h"]);
    }
}
