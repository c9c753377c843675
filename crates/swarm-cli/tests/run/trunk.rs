//! Trunk belongs to the plan: recorded when it first runs, whatever is checked out, killed or asked afterwards.

use std::path::Path;

use crate::arena::{Arena, Running, send, wait_for};

/// Agents that wait for the gate do not hear that they shall stop. Without the work of the first task none passes.
const QUICK: &str = r#"{ "stop": { "grace": "1s" }, "check": { "commands": ["test -e one.txt"] } }"#;

/// Two tasks, the second on top of the first. It goes on when the gate is opened.
fn two_tasks(arena: &Arena) {
    let gate = arena.path("gate");
    let second = format!("wait-for {}\nwrite two.txt 2\ncommit feat: two\ncomplete", gate.display());
    arena.plan(&[
        ("1.1", &[], "write one.txt 1\ncommit feat: one\ncomplete".into()),
        ("1.2", &["1.1"], second),
    ]);
}

fn open_the_gate(arena: &Arena) {
    std::fs::write(arena.path("gate"), "").expect("the gate");
}

/// How often the work of each of the two tasks is on the branch.
fn work_on(arena: &Arena, branch: &str) -> [usize; 2] {
    ["feat: one", "feat: two"].map(|subject| arena.commits(branch, subject))
}

/// Everything is done, and both commits are where they belong and nowhere else.
fn assert_done_on(arena: &Arena, trunk: &str, not_on: &str, said: &str) {
    arena.assert_all_done();
    assert_eq!((work_on(arena, trunk), work_on(arena, not_on)), ([1, 1], [0, 0]), "{said}");
    assert!(said.contains(&format!("trunk is {trunk}")), "{said}");
    for task in arena.tasks() {
        let shown = arena.json(&["task", "show", task["id"].as_str().expect("an id")]);
        assert_eq!(shown["proof"]["trunk"], trunk, "{shown}");
    }
}

fn start_in(arena: &Arena, dir: &Path, args: &[&str]) -> Running {
    let mut all = vec!["run", "--agent", "script", "--mode", "autopilot"];
    all.extend(args);
    Running::of(arena.command_in(dir, &all))
}

#[test]
fn a_checkout_and_a_kill_leave_trunk_where_it_was_and_it_is_said() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    let start = arena.git(&["rev-parse", "main"]);
    let mut run = arena.start(&[]);
    run.until("1.1      on main at");
    run.until("1.2      ");
    arena.git(&["checkout", "--quiet", "-b", "other", start.trim()]);
    run.kill_9();
    open_the_gate(&arena);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Trunk of this plan is main; you are on other"), "{said}");
    assert_done_on(&arena, "main", "other", &said);
}

#[test]
fn a_coordinator_that_is_started_again_after_a_checkout_goes_on_with_the_same_trunk() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    let start = arena.git(&["rev-parse", "main"]);
    let mut run = arena.start(&[]);
    run.until("1.1      on main at");
    arena.git(&["checkout", "--quiet", "-b", "other", start.trim()]);
    send("KILL", run.coordinator());
    run.until("epoch 2");
    open_the_gate(&arena);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_done_on(&arena, "main", "other", &said);
}

#[test]
fn a_stop_a_checkout_and_a_run_go_on_with_the_same_trunk() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    let start = arena.git(&["rev-parse", "main"]);
    let mut run = arena.start(&[]);
    run.until("1.1      on main at");
    arena.ok(&["stop"]);
    run.end();
    arena.git(&["checkout", "--quiet", "-b", "other", start.trim()]);
    open_the_gate(&arena);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert_done_on(&arena, "main", "other", &said);
}

#[test]
fn a_trunk_that_was_named_once_is_the_plans_own_from_then_on() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    arena.git(&["branch", "integration"]);
    let mut run = arena.start(&["--trunk", "integration"]);
    run.until("1.1      on integration at");
    arena.ok(&["stop"]);
    run.end();
    open_the_gate(&arena);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert_done_on(&arena, "integration", "main", &said);
}

#[test]
fn from_a_linked_worktree_the_branch_that_is_checked_out_there_is_trunk() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    let linked = arena.path("linked");
    arena.git(&["worktree", "add", "--quiet", "-b", "feature", linked.to_str().expect("text")]);
    let mut run = start_in(&arena, &linked, &[]);
    run.until("1.1      on feature at");
    run.kill_9();
    assert!(linked.join("one.txt").exists(), "the person's checkout of trunk comes along");
    open_the_gate(&arena);
    // Also when the next one is started in the main checkout.
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert_done_on(&arena, "feature", "main", &said);
}

#[test]
fn without_a_branch_the_first_run_is_refused_and_a_later_one_goes_on() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    arena.git(&["checkout", "--quiet", "--detach"]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("No branch is checked out here"), "{said}");
    assert!(said.contains("swarm run --trunk BRANCH"), "{said}");
    // A look says the same: there is no other option that names a branch.
    let look = arena.swarm(&["run", "--dry-run"]);
    let said = String::from_utf8_lossy(&look.stderr).into_owned();
    assert_eq!(look.status.code(), Some(3), "{said}");
    assert!(said.contains("swarm run --trunk BRANCH") && !said.contains("--from"), "{said}");
    // A command that only brings things to rest records nothing either.
    arena.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    arena.ok(&["checkpoint", "create", "early"]);
    arena.git(&["checkout", "--quiet", "main"]);
    let look = arena.ok(&["run", "--dry-run", "--agents", "1"]);
    assert!(look.contains("merged into main") && look.contains("one agent works at a time"), "{look}");
    let mut run = arena.start(&[]);
    run.until("1.1      on main at");
    run.kill_9();
    arena.git(&["checkout", "--quiet", "--detach"]);
    open_the_gate(&arena);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Trunk of this plan is main; you are on no branch"), "{said}");
    assert_done_on(&arena, "main", "elsewhere", &said);
}

#[test]
fn a_trunk_that_is_gone_is_refused_with_the_way_to_bring_it_back() {
    let arena = Arena::new(QUICK);
    two_tasks(&arena);
    let mut run = arena.start(&[]);
    run.until("1.1      on main at");
    arena.ok(&["stop"]);
    run.end();
    arena.git(&["branch", "-m", "main", "renamed"]);
    open_the_gate(&arena);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("The branch main, which this plan is merged into, is gone"), "{said}");
    // Nothing is made up in its place, whatever else is asked.
    arena.ok(&["checkpoint", "create", "without-trunk"]);
    assert_eq!(arena.git(&["for-each-ref", "refs/heads/main"]), "");
    let from = said.find("git branch main ").expect("the way out");
    let command: Vec<&str> = said[from..].split('`').next().expect("a command").split(' ').skip(1).collect();
    arena.git(&command);
    assert_eq!(arena.git(&["rev-parse", "main"]), arena.git(&["rev-parse", "renamed"]));
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    wait_for("the task is done", || work_on(&arena, "main") == [1, 1]);
}
