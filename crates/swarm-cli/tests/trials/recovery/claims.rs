//! Nothing spins and nothing spends without end: stops that stay stops, checks that can never pass, work that is
//! checked again and not paid for again.

use serde_json::json;

use super::hurried;
use crate::arena::{Arena, wait_for};

const HANGS: &str = "print at work\nwait-for /nowhere/at/all\ncomplete";

fn at_work(arena: &Arena, agents: usize) {
    wait_for("all are at work", || arena.printed().matches("at work").count() >= agents);
}

#[test]
fn close_with_stop_ends_while_agents_work_and_nothing_is_claimed_after_it() {
    for mode in ["autopilot", "semi-auto"] {
        let arena = hurried(json!({ "mode": mode }));
        let tasks = ["1.1", "1.2", "1.3"].map(|id| (id, &[][..], HANGS.to_string()));
        arena.plan(&tasks);
        let mut run = arena.start_with(&["--agents", "2"]);
        if mode == "semi-auto" {
            run.until("swarm task start");
            arena.ok(&["task", "start", "--all"]);
        }
        at_work(&arena, 2);
        let claimed = arena.recorded("task_claimed");
        arena.ok(&["close", "--stop", "--yes"]);
        let archive = crate::arena::files_below(&arena.root.join(".swarm"), ".jsonl")
            .into_iter()
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .find(|text| text.contains("\"type\":\"plan_closed\""))
            .expect("the archived ledger");
        assert_eq!(archive.matches("\"type\":\"task_claimed\"").count(), claimed, "nothing new was claimed");
        run.end();
        arena.assert_nothing_runs();
    }
}

#[test]
fn a_stopped_agent_stays_stopped_in_autopilot_until_a_person_says_otherwise() {
    let arena = hurried(json!({}));
    let script =
        "print at work\non-attempt 1: wait-for /nowhere/at/all\nwrite a.txt a\ncommit feat: a\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let mut run = arena.start(&[]);
    at_work(&arena, 1);
    let told = arena.ok(&["agent", "stop", "1.1"]);
    assert!(told.contains("swarm task start 1.1"), "{told}");
    arena.until_recorded("attempt_stopped", 1);
    assert!(arena.waits_for_a_person().contains("swarm task start 1.1"), "{}", arena.waits_for_a_person());
    run.until("waits for you:");
    assert_eq!(arena.recorded("task_claimed"), 1);
    arena.ok(&["task", "start", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.recorded("task_claimed"), 2);
    arena.assert_tidy();
}

#[test]
fn checks_that_fail_before_any_work_pause_the_swarm_after_one_iteration() {
    let arena = hurried(json!({ "check": { "commands": ["echo never; false"] } }));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let run = arena.start(&[]);
    wait_for("it is paused", || arena.json(&["status"])["paused"] == json!(["checks"]));
    assert_eq!(arena.recorded("iteration"), 1, "nobody was paid again");
    let asks = arena.waits_for_a_person();
    assert!(asks.contains("never") && asks.contains("swarm resume --reason checks"), "{asks}");
    assert_eq!(arena.shown("1.1")["retries"], 0, "nobody is blamed");
    arena.ok(&["stop"]);
    run.end();
    arena.assert_nothing_runs();
}

#[test]
fn checks_that_fail_in_the_same_way_again_and_again_block_the_task() {
    let arena =
        hurried(json!({ "check": { "commands": ["test ! -e a.txt || { date +%T; echo no; false; }"] } }));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    assert_eq!((arena.recorded("checks_failed"), arena.recorded("base_checked")), (3, 1), "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("retries")), "{view}");
    assert!(view["why"].as_str().is_some_and(|why| why.contains("in the same way")), "{view}");
    arena.assert_nothing_runs();
}

#[test]
fn work_that_was_being_checked_when_the_swarm_stopped_is_only_checked_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let go = dir.path().join("go").display().to_string();
    let began = dir.path().join("began").display().to_string();
    let check = format!("test ! -e a.txt || {{ : > {began}; while ! test -e {go}; do sleep 0.05; done; }}");
    let arena = hurried(json!({
        "check": { "commands": [check] }, "verify": { "commands": ["true"] }, "sandbox": "none",
    }));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let run = arena.start(&[]);
    wait_for("its work is being checked", || std::path::Path::new(&began).exists());
    arena.ok(&["stop"]);
    run.end();
    std::fs::write(&go, "").expect("a file");
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!((arena.recorded("iteration"), arena.recorded("checking_resumed")), (1, 1), "{said}");
    arena.assert_all_done();
    arena.assert_tidy();
}

#[test]
fn a_run_says_what_it_may_spend() {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let (_, said) = arena.run(&[]);
    assert!(said.contains("50 million tokens, $100, 24 h of work"), "{said}");
    let arena = hurried(json!({ "budget": { "session": { "dollars": 0, "tokens": 0 } } }));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let (_, said) = arena.run(&[]);
    assert!(!said.contains("Budget:"), "{said}");
}
