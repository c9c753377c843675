//! A machine that has no more files to open: said before a run begins.

use std::process::Command;

use serde_json::json;

use crate::arena::{Arena, Running};
use crate::ground::{arena_with, has, task};

/// `swarm run` in a shell that has set its limits first.
fn run_limited(arena: &Arena, limit: &str) -> Running {
    let ours = arena.command(&["run", "--agent", "script", "--mode", "autopilot", "--agents", "2"]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(ours.get_program())
        .args(ours.get_args());
    for (name, value) in ours.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    Running::of(shell)
}

fn two_tasks(arena: &Arena, before: &str) {
    let script = |n: u32| format!("{before}write f{n}.txt {n}\ncommit feat: {n}\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &script(1)), task("1.2", &[], &script(2))]]);
}

#[test]
fn a_shell_that_allows_few_files_is_asked_for_more() {
    let arena = arena_with(json!({}));
    two_tasks(&arena, "");
    let (code, said) = run_limited(&arena, "-S -n 20").end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}

#[test]
fn a_machine_that_allows_too_few_files_is_told_before_anything_begins() {
    let arena = arena_with(json!({}));
    two_tasks(&arena, "");
    let (code, said) = run_limited(&arena, "-n 60").end();
    assert_eq!(code, 3, "{said}");
    has(
        &said,
        &["A run with 2 agents needs 80 open files at once, and the machine allows 60", "ulimit -n 1024"],
    );
    assert!(arena.tasks().iter().all(|task| task["attempts"] == 0 && task["status"] == "pending"));
    let (code, said) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}
