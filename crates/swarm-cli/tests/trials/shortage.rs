//! A machine that has no more files to open: said before a run begins, waited for while one is under way, and nobody's fault.

use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
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

/// Whatever the coordinator has open stays open; nothing can be added. Answers with what it was allowed.
fn take_all_files_from(run: &Running) -> Rlimit {
    let none = Rlimit { current: Some(3), maximum: getrlimit(Resource::Nofile).maximum };
    limit_files(run, none)
}

fn limit_files(run: &Running, limit: Rlimit) -> Rlimit {
    let pid = Pid::from_raw(run.coordinator().cast_signed()).expect("a process");
    prlimit(Some(pid), Resource::Nofile, limit).expect("allowed")
}

#[test]
fn a_coordinator_that_can_open_no_file_for_a_while_blames_nobody() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let script = |n: u32, before: &str| format!("{before}write f{n}.txt {n}\ncommit feat: {n}\ncomplete");
    let waits = format!("print at-work\nwait-for {}\n", go.display());
    // The third begins when one of the others has ended: while nothing can be opened.
    let three = [
        task("1.1", &[], &script(1, &waits)),
        task("1.2", &[], &script(2, &waits)),
        task("1.3", &[], &script(3, "")),
    ];
    arena.plan_in_phases(&[three.to_vec()]);
    let run = arena.start(&["--agents", "2"]);
    // A task is called active when it is claimed; here the agents themselves must be there.
    wait_for("both are at work", || arena.printed().matches("\nat-work").count() == 2);
    let before = take_all_files_from(&run);
    std::fs::write(go, "").expect("a file");
    // By the journals: whoever asks the coordinator now gets no answer.
    let ended = |text: &str| text.matches("iteration 1 ended: the agent said").count() == 2;
    wait_for("both have finished", || ended(&arena.printed()));
    let_it_meet_what_it_cannot_open();
    limit_files(&run, before);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    assert!(arena.tasks().iter().all(|task| task["attempts"] == 1), "{said}");
    assert_eq!(arena.attention(), "[]", "{said}");
    assert!(!said.contains("may not do"), "{said}");
}

#[allow(
    clippy::disallowed_methods,
    reason = "from outside nothing is seen of it; too short only makes it easier"
)]
fn let_it_meet_what_it_cannot_open() {
    std::thread::sleep(std::time::Duration::from_secs(2));
}
