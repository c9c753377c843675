//! I13: what may be spent is spent: a person is asked, and nothing is killed.

use serde_json::json;

use super::hurried;
use crate::arena::wait_for;

const SPENDS: &str = "on-iteration 1: usage input=150 output=20 cost=0.5\non-iteration 1: write half.txt half\n\
    on-iteration 1: no-signal\ncommit feat: it\ncomplete";

#[test]
fn a_task_that_has_spent_its_budget_is_blocked_until_it_is_extended() {
    let arena = hurried(json!({ "budget": { "task": { "tokens": 100 } } }));
    // In the second attempt the first iteration spends nothing.
    let script = SPENDS.replace("on-iteration 1:", "on-attempt 1: on-iteration 1:");
    arena.plan(&[("1.1", &[], script)]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("budget")), "{view}");
    assert_eq!(view["retries"], 0, "no penalty: {view}");
    assert!(arena.waits_for_a_person().contains("swarm budget extend 1.1"), "{}", arena.waits_for_a_person());
    let said = arena.refused(&["task", "unblock", "1.1"]);
    assert!(said.contains("swarm budget extend 1.1"), "{said}");
    assert!(arena.ok(&["budget"]).contains("170 of 100"), "{}", arena.ok(&["budget"]));
    arena.refused(&["budget", "extend", "1.9"]);
    arena.ok(&["budget", "extend", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(arena.git(&["ls-tree", "--name-only", "main"]).contains("half.txt"), "its work was kept");
    assert_eq!(arena.json(&["attention"]), json!([]));
    arena.assert_tidy();
}

#[test]
fn a_swarm_that_has_spent_its_budget_pauses_and_asks() {
    let arena = hurried(json!({ "budget": { "session": { "dollars": 0.25 } } }));
    arena.plan(&[("1.1", &[], SPENDS.into())]);
    let run = arena.start(&[]);
    wait_for("it is paused", || arena.json(&["status"])["paused"] == json!(["budget"]));
    let status = arena.ok(&["status"]);
    assert!(status.contains("swarm budget extend"), "{status}");
    assert!(arena.waits_for_a_person().contains("swarm budget extend"));
    arena.ok(&["resume", "--reason", "budget"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.starts("1.1"), 1, "the same attempt goes on: {said}");
    arena.assert_tidy();
}
