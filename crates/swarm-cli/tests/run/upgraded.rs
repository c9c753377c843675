//! Two releases meet: a newer program finds what an older one wrote, left behind or still runs. One program plays both.

use serde_json::Value;

use crate::arena::{Arena, Running, wait_for};

const CLAIM: &str = "SWARM_CLAIM_RELEASE";
const NEXT: &str = "99.0.0";

/// Work that goes on until it is allowed to end.
fn at_work() -> Arena {
    let arena = Arena::new(r#"{ "sandbox": "none" }"#);
    let gate = arena.path("go");
    let script =
        format!("print at work\nwait-for {}\nwrite a.txt a\ncommit feat: a\ncomplete", gate.display());
    arena.plan(&[("1.1", &[], script), ("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete".into())]);
    arena
}

fn start(arena: &Arena, release: Option<&str>) -> Running {
    let mut command = arena.command(&["run", "--agent", "script", "--mode", "autopilot", "--no-tui"]);
    release.map(|release| command.env(CLAIM, release));
    Running::of(command)
}

fn said(arena: &Arena, words: &[&str], release: Option<&str>) -> String {
    let mut command = arena.command(words);
    release.map(|release| command.env(CLAIM, release));
    let out = command.output().expect("swarm runs");
    assert!(out.status.success(), "swarm {words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stderr).replace('\n', " ")
}

fn speaks(arena: &Arena) -> bool {
    let log = arena.swarm(&["agent", "logs", "1.1"]);
    String::from_utf8_lossy(&log.stdout).contains("at work")
}

/// Who coordinated, in order.
fn releases(arena: &Arena) -> Vec<String> {
    let history = arena.json(&["plan", "history", "--limit", "10000"]);
    let records = history.as_array().expect("records").iter();
    let started = records.filter(|record| {
        record["type"] == "coordinator_started" || record["event"]["type"] == "coordinator_started"
    });
    started.map(|record| version_in(record).expect("a version")).collect()
}

fn version_in(record: &Value) -> Option<String> {
    let inside = |value: &Value| value.get("version").and_then(Value::as_str).map(str::to_owned);
    inside(record).or_else(|| record.as_object()?.values().find_map(inside))
}

#[test]
fn a_newer_program_adopts_what_an_older_coordinator_left_and_repeats_nothing() {
    let arena = at_work();
    let mut run = start(&arena, None);
    wait_for("the agent speaks", || speaks(&arena));
    run.kill_9();
    assert!(said(&arena, &["status"], Some(NEXT)).contains("live agents continue"));
    let next = start(&arena, Some(NEXT));
    wait_for("it is adopted", || releases(&arena).len() == 2);
    std::fs::write(arena.path("go"), "").expect("the gate opens");
    let (code, out) = next.end();
    assert_eq!(code, 0, "{out}");
    arena.assert_all_done();
    arena.assert_nothing_left();
    for task in arena.tasks() {
        assert_eq!(task["attempts"], 1, "no agent began again: {task}");
    }
    assert_eq!(releases(&arena), [env!("CARGO_PKG_VERSION"), NEXT]);
}

#[test]
fn a_program_says_that_the_running_swarm_is_of_another_release_and_what_to_do() {
    let arena = at_work();
    let older = start(&arena, None);
    wait_for("the agent speaks", || speaks(&arena));
    assert!(!said(&arena, &["status"], None).contains("version"), "one release has nothing to say");
    let note = said(&arena, &["status"], Some(NEXT));
    assert!(note.contains(&format!("this program is version {NEXT}")), "{note}");
    assert!(note.contains("Run `swarm stop`, then `swarm run`"), "{note}");
    let note = said(&arena, &["status"], Some("0.0.1"));
    assert!(note.contains(&format!("Use swarm {} in this repository", env!("CARGO_PKG_VERSION"))), "{note}");
    // As it says.
    said(&arena, &["stop"], Some(NEXT));
    older.end();
    std::fs::write(arena.path("go"), "").expect("the gate opens");
    let (code, out) = start(&arena, Some(NEXT)).end();
    assert_eq!(code, 0, "{out}");
    arena.assert_all_done();
}
