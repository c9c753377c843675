//! The ways on after a failure or an abort: the same plan, the plan edited first, another plan.

use serde_json::{Value, json};

use crate::arena::{Arena, Running};
use crate::ground::{arena_with, task};

/// One task done, one that fails.
fn failed(how: &str) -> Arena {
    let arena = arena_with(json!({}));
    let script = format!("{how}\nwrite b.txt b\ncommit feat: b\ncomplete");
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete"),
        task("1.2", &["1.1"], &script),
    ]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    assert_eq!((arena.status_of("1.1"), arena.status_of("1.2")), ("done".into(), "blocked".into()));
    arena
}

const ONCE: &str = "on-attempt 1: fail key not logged in";

#[test]
fn a_run_that_ends_with_failed_tasks_names_the_ways_on_and_the_first_of_them_works() {
    let arena = failed(ONCE);
    // Run once more, nothing else happens; the summary goes to stdout.
    let said = String::from_utf8(arena.swarm(&["run", "--agent", "script"]).stdout).expect("text");
    for way in ["swarm run --retry ", "swarm run --retry --edit", "swarm close && swarm run --plan FILE"] {
        assert!(said.contains(way), "{way} is not in:\n{said}");
    }
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 task is tried again") && !said.contains("To go on"), "{said}");
    arena.assert_all_done();
    // What was done was not done again.
    assert_eq!(arena.starts("1.1"), 1);
    arena.assert_tidy();
}

#[test]
fn a_retry_with_an_edited_plan_goes_on_with_what_was_written() {
    let arena = failed("fail key not logged in");
    let mut command =
        arena.command(&["run", "--agent", "script", "--mode", "autopilot", "--retry", "--edit"]);
    command.env("VISUAL", "sed -i s/fail.key/print/");
    let (code, said) = Running::of(command).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_tidy();
}

#[test]
fn an_abort_names_the_ways_on_as_text_and_as_json() {
    let arena = failed(ONCE);
    let told: Value = serde_json::from_str(&arena.ok(&["abort", "--yes", "--json"])).expect("JSON");
    let options = json!({
        "same_plan": "swarm run --retry",
        "edit_plan": "swarm run --retry --edit",
        "fresh_start": "swarm close && swarm run --plan FILE",
    });
    assert_eq!(told["retry_options"], options, "{told}");
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_tidy();
}
