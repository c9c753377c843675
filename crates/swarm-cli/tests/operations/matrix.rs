//! Every operation while nobody works and while an agent does; then it is taken back.

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, task};
use crate::tmux::Tmux;

/// What a person can do, and whether it is confirmed.
const OPERATIONS: [(&[&str], bool); 15] = [
    (&["pause"], false),
    (&["mode", "semi-auto"], false),
    (&["task", "block", "1.3", "waits for the design"], false),
    (&["task", "defer", "1.3"], false),
    (&["task", "cancel", "1.3"], false),
    (&["task", "edit", "1.3", "--title", "Do it well"], false),
    (&["task", "add", "One more", "--id", "1.9", "--phase", "1"], false),
    (&["task", "move", "1.3", "--first"], false),
    (&["task", "waive", "1.3", "check", "--reason", "no tests there"], false),
    (&["plan", "profile", "set", "--max", "3"], false),
    (&["checkpoint", "create", "mine"], false),
    (&["task", "rollback", "1.1", "--cascade"], true),
    (&["rollback", "before-merge-1.1"], true),
    (&["rollback", "--session"], true),
    (&["abort"], true),
];

/// One task is done, one is at work or ready, one waits for it.
fn arena() -> (Arena, String) {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task(
            "1.2",
            &["1.1"],
            &format!("write two.txt two\nprint at work\nwait-for {go}\ncommit feat: two\ncomplete"),
        ),
        task("1.3", &["1.2"], "write three.txt three\ncommit feat: three\ncomplete"),
    ]]);
    (arena, go)
}

fn at_work(arena: &Arena) -> Running {
    let run = arena.start(&["--agents", "2"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    run
}

fn statuses(arena: &Arena) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    arena.tasks().iter().map(|task| (text(&task["id"]), text(&task["status"]))).collect()
}

/// Does each and undoes it. Where agents go on meanwhile an undo may be refused, and then says what has changed.
fn check_all(arena: &Arena, working: bool) {
    for (operation, asked) in OPERATIONS {
        let sure: &[&str] = if asked { &["--yes"] } else { &[] };
        let before = statuses(arena);
        arena.ok(&[operation, sure].concat());
        let out = arena.swarm(&["undo", "--yes"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        if !out.status.success() {
            assert!(working, "{operation:?} is not undone: {said}");
            assert!(said.contains("changed since"), "{operation:?}: {said}");
            continue;
        }
        if !working {
            assert_eq!(statuses(arena), before, "{operation:?} undone");
        }
    }
}

#[test]
fn every_operation_is_done_and_undone_while_nobody_works() {
    let (arena, go) = arena();
    let mut run = at_work(&arena);
    // In good order: what is at work is saved and goes back to the queue.
    arena.ok(&["stop"]);
    run.for_a_while(std::time::Duration::from_secs(10));
    assert_eq!(statuses(&arena)[0].1, "done");
    check_all(&arena, false);
    std::fs::write(go, "").expect("a file");
    arena.assert_true_at_rest();
    arena.assert_all_done();
    arena.assert_tidy();
}

#[test]
fn every_operation_is_done_and_undone_while_an_agent_works_and_work_ends_well() {
    let (arena, go) = arena();
    let run = at_work(&arena);
    check_all(&arena, true);
    for change in [
        &["mode", "autopilot"][..],
        &["resume"],
        &["resume", "--reason", "abort"],
        &["task", "start", "--all"],
    ] {
        // Some of them are so already.
        arena.swarm(change);
    }
    std::fs::write(go, "").expect("a file");
    for task in ["1.1", "1.2", "1.3"] {
        if ["blocked", "deferred", "cancelled"].contains(&arena.status_of(task).as_str()) {
            arena.swarm(&["task", "unblock", task]);
        }
    }
    let (code, said) = run.end();
    assert!(code == 0 || code == 1, "{said}");
    arena.assert_tidy();
}

#[test]
fn a_killed_iteration_is_kept_at_a_ref_and_a_redirected_agent_takes_the_other_task() {
    let arena = arena_with(json!({}));
    let slow = "write half.txt half\nprint at work\non-attempt 1: sleep 600000\ncommit feat: whole\ncomplete";
    arena.plan_in_phases(&[vec![
        task("1.1", &[], slow),
        task("1.2", &[], "write other.txt other\ncommit feat: other\ncomplete"),
    ]]);
    let mut run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let told = arena.ok(&["agent", "redirect", "1.1", "1.2"]);
    assert!(told.contains("works on 1.2 next"), "{told}");
    run.until("on main at");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let (first, second) =
        (said.find("1.2      on main").or(said.find("1.2 ")), said.find("1.1      on main"));
    assert!(first < second, "the other task first: {said}");
    arena.assert_all_done();
    arena.assert_tidy();

    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], slow)]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let told = arena.ok(&["agent", "kill", "1.1"]);
    assert!(told.contains("swarm task start 1.1"), "it says what lets the task go on: {told}");
    arena.ok(&["task", "start", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let refs = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm"]);
    let kept = refs.lines().any(|name| has(&arena, name, "half.txt"));
    assert!(kept, "what the iteration wrote is kept: {refs}");
    arena.assert_tidy();
}

fn has(arena: &Arena, commit: &str, file: &str) -> bool {
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(&arena.root).args(["cat-file", "-e", &format!("{commit}:{file}")]);
    git.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn the_worktree_of_a_task_is_opened_in_the_editor_that_the_person_has() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
    let none = arena.swarm(&["agent", "debug", "1.1"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(said.contains("swarm worktree create 1.1"), "{said}");
    arena.ok(&["worktree", "create", "1.1"]);
    // Where the path is wanted by a program no editor waits for keys.
    let mut piped = arena.command(&["agent", "debug", "1.1"]);
    let piped = piped.env("EDITOR", "exit 9;:").env_remove("VISUAL").output().expect("swarm runs");
    let printed = arena.ok(&["agent", "debug", "1.1", "--print"]);
    assert_eq!(String::from_utf8_lossy(&piped.stdout), printed);
    assert!(std::path::Path::new(printed.trim()).is_dir(), "{printed}");
    // On a terminal it is opened: this one cannot edit a folder, and says so.
    let tmux = Tmux::start_and_stay(&arena, &["agent", "debug", "1.1"]);
    tmux.until_said("The editor sed");
    assert_eq!(tmux.exit_code(), "3");
}

/// Ended from outside, a watched status leaves the terminal as it was.
#[test]
fn a_watched_status_that_is_terminated_gives_the_terminal_back() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
    let tmux = Tmux::start_and_stay(&arena, &["status", "--watch"]);
    tmux.until_said("q quits");
    let processes = arena.processes();
    let ours = processes.iter().filter_map(|line| line.split_once(' '));
    let (pid, _) = ours
        .filter(|(_, words)| words.starts_with(env!("CARGO_BIN_EXE_swarm")))
        .find(|(_, words)| words.contains("--watch"))
        .expect("it watches");
    let ended = std::process::Command::new("kill").args(["-TERM", pid]).status().expect("kill runs");
    assert!(ended.success());
    assert_eq!(tmux.exit_code(), "143");
    assert!(!tmux.screen().contains("q quits"), "{}", tmux.screen());
}
