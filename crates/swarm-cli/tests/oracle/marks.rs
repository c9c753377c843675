//! Marks: words that are made once, so that whoever finds one knows whose work it is.
//!
//! `mark:1.2:r7:a;` is the first that the run r7 made for the task 1.2, `mark:person:3;` the third of a person. An agent
//! writes it to a file and then prints `made mark:…;`: the journal of its run says what was there before anything happened to it.

use std::collections::BTreeSet;

use super::super::{Arena, files_below};

const BEGINS: &str = "mark:";

/// Marks in a text. What only looks like one, as in the script that makes it, is left out.
pub fn marks_in(text: &str) -> BTreeSet<String> {
    let tails = text.match_indices(BEGINS).map(|(at, _)| &text[at..]);
    let whole = tails.filter_map(|tail| Some(&tail[..=tail.find(';')?]));
    let is_mark = |mark: &str| {
        mark[BEGINS.len()..mark.len() - 1].chars().all(|c| c.is_ascii_alphanumeric() || ".:-".contains(c))
    };
    whole.filter(|mark| is_mark(mark)).map(str::to_owned).collect()
}

/// What agents said that they had made.
pub fn made_by_agents(arena: &Arena) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for file in files_below(&arena.root.join(".swarm/agents"), ".jsonl") {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let text = entry["text"].as_str().unwrap_or_default();
            if let Some(rest) = text.strip_prefix("made ") {
                made.extend(marks_in(rest));
            }
        }
    }
    made
}

#[test]
fn marks_are_found_and_the_script_that_makes_them_is_not_one() {
    let text = "a mark:1.2:r7:a; b mark:$SWARM_TASK:$SWARM_RUN:a; mark:person:3;mark:open";
    assert_eq!(marks_in(text).into_iter().collect::<Vec<_>>(), ["mark:1.2:r7:a;", "mark:person:3;"]);
}
