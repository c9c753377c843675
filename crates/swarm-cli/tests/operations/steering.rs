//! Agents that are held by force, and that take their work along to another task.

use serde_json::json;

use crate::arena::{is_gone, send, wait_for};
use crate::ground::{arena_with, task};

const SLOW: &str = "write half.txt half\nprint at work\non-attempt 1: sleep 600000\nwrite whole.txt whole\ncommit feat: whole\ncomplete";

#[test]
fn a_forced_pause_stops_who_is_at_work_and_a_resume_lets_the_same_agent_go_on_first() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], SLOW),
        task("1.2", &["1.1"], "write other.txt other\ncommit feat: other\ncomplete"),
    ]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let told = arena.ok(&["pause", "--force", "--reason", "the demo begins"]);
    assert!(told.contains("1 agent is stopped"), "{told}");
    wait_for("its processes are gone", || arena.json(&["status"])["agents"] == json!([]));
    assert!(
        arena.processes().iter().all(|process| !process.contains("script-agent")),
        "{:?}",
        arena.processes()
    );
    arena.ok(&["resume"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["restarts"]), (&json!(1), &json!(1)), "the attempt goes on: {view}");
    assert_eq!(view["retries"], 0, "no penalty: {view}");
    let taken: Vec<&str> = said.lines().filter(|line| line.contains("assigned to ")).collect();
    assert!(
        taken[0].contains("ed-001") && taken[1].contains("1.1") && taken[1].contains("ed-001"),
        "{taken:?}"
    );
    assert!(arena.git(&["ls-tree", "--name-only", "main"]).contains("half.txt"), "its work was kept");
    arena.assert_tidy();
}

#[test]
fn a_redirected_agent_may_take_its_work_along() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], SLOW),
        task("1.2", &[], "append half.txt more\ncommit feat: with what was there\ncomplete"),
    ]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    arena.ok(&["agent", "redirect", "1.1", "1.2", "--same-worktree"]);
    // What was begun is part of the other task now.
    arena.ok(&["task", "cancel", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.2", "main");
    let half = arena.git(&["show", "main:half.txt"]);
    assert!(half.contains("half") && half.contains("more"), "{half:?}");
    arena.assert_tidy();
}

#[test]
fn an_operation_asked_for_while_the_coordinator_is_dead_waits_for_the_one_that_comes_back() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    let script = format!("write a.txt a\nprint at work\nwait-for {go}\ncommit feat: a\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let coordinator = run.coordinator();
    send("KILL", coordinator);
    wait_for("it is dead", || is_gone(coordinator));
    arena.ok(&["checkpoint", "create", "in-between"]);
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.starts("1.1"), 1, "its agent was left at work: {said}");
    arena.assert_all_done();
    arena.assert_tidy();
}
