use std::collections::BTreeSet;

use serde::Deserialize;
use swarm_protocol::record::event_of;

use super::*;
use crate::State;

/// Of the verbs of effects, which are words of the program.
const VERBS: [&str; 3] = ["Work", "Build", "Hook"];

/// The profiles that the story's configurations had.
const CONFIGURED: [&str; 2] = ["claude", "script"];

#[derive(Deserialize)]
struct Margin {
    seq: u64,
    ts: Timestamp,
}

/// A page about a long story, with all that a coordinator knows besides.
fn page() -> String {
    let ledger = include_str!("../../tests/ledgers/0.1.0-before-decisions-were-recorded.jsonl");
    let (mut tally, mut state) = (Tally::default(), State::default());
    for line in ledger.lines() {
        let Margin { seq, ts } = serde_json::from_str(line).expect("a margin");
        let from = line.find("\"type\":").expect("a type");
        let event = event_of(&line.as_bytes()[from..line.len() - 1]).expect("an event");
        tally.note(seq, &event, ts);
        state.apply(&event, ts);
    }
    let mut live = Live::default();
    live.append.note(0.002);
    VERBS.iter().for_each(|verb| live.effects.entry(verb).or_default().seconds.note(3.0));
    live.asked(Some("/v1/tasks/{id}"), 200, 0.01);
    live.asked(None, 404, 0.01);
    let around = Around { disk_free: Some(1 << 30), live: Some(live) };
    tally.text(&crate::show::board(&state, state.at), "0.1.0", &around)
}

/// The name that a sample belongs to, and its labels.
fn read(line: &str) -> (&str, Vec<(&str, &str)>) {
    let (name, rest) = line.split_at(line.find(['{', ' ']).expect("a value"));
    let parts = ["_bucket", "_sum", "_count"].into_iter().filter_map(|end| name.strip_suffix(end));
    let whole = parts.into_iter().find(|whole| METRICS.iter().any(|(known, ..)| known == whole));
    let labels =
        rest.strip_prefix('{').and_then(|rest| rest.rsplit_once('}')).map_or("", |(labels, _)| labels);
    let labels = labels.split("\",").filter_map(|label| label.split_once("=\""));
    (whole.unwrap_or(name), labels.map(|(name, word)| (name, word.trim_end_matches('"'))).collect())
}

#[test]
fn each_name_has_one_head_and_every_sample_a_known_name() {
    for text in [
        page(),
        Tally::default().text(
            &crate::show::board(&State::default(), Timestamp::ZERO),
            "0",
            &Around::default(),
        ),
    ] {
        let heads: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        let once: BTreeSet<&str> = heads.iter().copied().collect();
        assert_eq!(once.len(), heads.len(), "{text}");
        let all: Vec<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
        assert!(heads.iter().all(|head| all.contains(head)), "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert!(heads.contains(&read(line).0), "{line}");
            assert!(line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok()), "{line}");
        }
    }
    // Of a quota nothing is said while none is closed.
    let (text, rare) = (page(), ["swarm_quota_closed", "swarm_quota_reset_timestamp_seconds"]);
    let said = |name: &str| text.contains(&format!("# TYPE {name} "));
    assert!(METRICS.iter().all(|(name, ..)| said(name) || rare.contains(name)), "{text}");
}

#[test]
fn every_label_comes_from_a_closed_list_or_the_configuration() {
    let words: BTreeSet<&str> = Status::ALL
        .map(Status::word)
        .into_iter()
        .chain(PauseReason::ALL.map(PauseReason::word))
        .chain(FailureClass::ALL.map(FailureClass::word))
        .chain(crate::spending::Outcome::ALL.map(crate::spending::Outcome::word))
        .chain(NO_CLASS)
        .chain(HOOKS)
        .chain(VERBS.iter().copied())
        .chain(["working", "held", "input", "output", "cached", "approved", "needs_changes"])
        .chain([
            "question", "start", "checkout", "pause", "quota", "agent", "seen", "other", "setup", "proposal",
        ])
        .chain(["completed", "merged", "red", "stopped", "sent_back", "rule", "order", "unresolved"])
        .chain(["work", "check", "build", "verify", "publish"])
        .collect();
    let mut seen = 0;
    for line in page().lines().filter(|line| !line.starts_with('#')) {
        for (label, word) in read(line).1 {
            seen += 1;
            let fits = match label {
                "le" => word == "+Inf" || word.parse::<f64>().is_ok(),
                "version" => word == "0.1.0",
                // What the policies of this ledger name.
                "profile" | "program" => CONFIGURED.contains(&word),
                "model" => word.is_empty(),
                "route" => word == "none" || word.starts_with("/v1/"),
                "code" => word.parse::<u16>().is_ok(),
                "status" | "state" | "kind" | "reason" | "class" | "outcome" | "verdict" | "type"
                | "stage" | "level" => words.contains(word),
                _ => false,
            };
            assert!(fits, "{label}={word}: {line}");
        }
    }
    assert!(seen > 100, "{seen} labels");
}

#[test]
fn the_guide_lists_every_name_and_no_other() {
    let guide = include_str!("../../../../docs/guides/observability.md");
    let listed: Vec<(&str, &str, &str)> = guide
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let name = cells.get(1)?.strip_prefix("`swarm_")?.strip_suffix('`')?;
            Some((name, *cells.get(2)?, *cells.get(4)?))
        })
        .collect();
    let known: Vec<(&str, &str, &str)> =
        METRICS.iter().map(|(name, kind, help)| (name.trim_start_matches("swarm_"), *kind, *help)).collect();
    assert_eq!(listed, known);
}

/// Names of metrics in a text.
fn named(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("swarm_"));
    words
        .map(|word| {
            let whole = ["_bucket", "_sum", "_count"].into_iter().find_map(|end| word.strip_suffix(end));
            whole.filter(|whole| METRICS.iter().any(|(known, ..)| known == whole)).unwrap_or(word)
        })
        .collect()
}

#[test]
fn dashboard_and_alert_rules_name_what_there_is() {
    let rules = include_str!("../../../../docs/observability/alerts.yml");
    let dashboard = include_str!("../../../../docs/observability/grafana.json");
    let known: BTreeSet<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
    for text in [rules, dashboard] {
        let named = named(text);
        let strange: Vec<&&str> = named.difference(&known).collect();
        assert!(strange.is_empty() && named.len() >= 5, "{strange:?} of {named:?}");
    }
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() >= 8));
}
