//! F8: an agent that goes round in circles is noted, nudged, stopped and tried again with a narrower word; then a
//! person is asked. One that falls silent is nudged and then begun again.

use serde_json::{Value, json};

use super::hurried;
use crate::arena::Arena;

fn quick(retries: u32) -> Value {
    let loops = json!({ "note": 3, "stop": 6 });
    json!({ "recovery": { "maxRetries": retries, "backoffMax": "1s", "loops": loops }, "stall": "2s" })
}

/// What happened to the task, in order.
fn events_of(arena: &Arena, id: &str) -> Vec<String> {
    let audit = arena.shown(id)["audit"].as_array().cloned().unwrap_or_default();
    audit.iter().filter_map(|entry| Some(entry["event"].as_str()?.to_owned())).collect()
}

#[test]
fn a_circle_is_noted_nudged_stopped_and_tried_again_with_a_narrower_word() {
    let arena = hurried(quick(1));
    let script = "write half.txt half\non-attempt 1: repeat 100: tool Bash make test\non-attempt 1: hang\n\
                  commit feat: it\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("noted: the same call 3 times in a row"), "{said}");
    assert!(said.contains("the agent is told and continues"), "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(1)), "{view}");
    let (nudges, notes) = (arena.recorded("agent_nudged"), arena.recorded("agent_noted"));
    assert!(nudges == 1 && notes >= 1, "{nudges} nudges, {notes} notes: {:?}", events_of(&arena, "1.1"));
    assert!(view["audit"].to_string().contains("make test"), "each step is explained: {view}");
    arena.assert_tidy();
}

#[test]
fn an_agent_that_never_leaves_its_circle_asks_a_person_at_last() {
    let arena = hurried(quick(0));
    arena.plan(&[("1.1", &[], "write half.txt half\nrepeat 100: tool Bash make test\nhang".into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.status_of("1.1"), "timeout", "{said}");
    assert!(arena.waits_for_a_person().contains("swarm task unblock 1.1"), "{}", arena.waits_for_a_person());
    let saved = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
    assert!(!saved.trim().is_empty(), "what it had is kept: {said}");
    arena.assert_nothing_runs();
}

#[test]
fn a_silent_agent_is_nudged_and_then_begun_again() {
    let arena = hurried(quick(2));
    let script = "write half.txt half\non-attempt 1: hang\ncommit feat: it\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("it went silent") && said.contains("restarts at"), "{said}");
    assert_eq!(arena.recorded("agent_nudged"), 1);
    assert_eq!(arena.starts("1.1"), 2);
    arena.assert_tidy();
}
