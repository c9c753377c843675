//! What a preview leaves out, a person loses: what goes, where it is kept, and that every command has a way back.

use std::path::Path;

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};
use crate::outside::{Outside, files};

fn said(out: &std::process::Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout)
}

/// Stopped in the middle of this script, which prints `at work`.
fn stopped_in(script: &str) -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &format!("{script}\nprint at work\nsleep 600000"))]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    arena.ok(&["stop"]);
    run.end();
    arena
}

#[test]
fn the_first_change_of_the_mode_is_what_the_next_undo_takes_back() {
    // What the configuration says differs from what is chosen, and from what an old ledger without modes did.
    for (configured, chosen) in
        [("semi-auto", "autopilot"), ("autopilot", "semi-auto"), ("autopilot", "autopilot")]
    {
        let arena = arena_with(json!({ "mode": configured }));
        arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
        arena.ok(&["mode", chosen]);
        let look = arena.ok(&["undo", "--dry-run"]);
        assert!(look.contains("the mode is the configured one"), "{configured}, {chosen}: {look}");
        assert!(!look.contains("waived") && !look.contains("moves") && !look.contains("1.1"), "{look}");
        arena.ok(&["undo", "--yes"]);
        assert_eq!(arena.ok(&["mode"]).trim(), configured);
        assert_eq!(arena.tasks().len(), 1, "the plan is untouched");
        arena.ok(&["redo", "--yes"]);
        assert_eq!(arena.ok(&["mode"]).trim(), chosen);
        arena.ok(&["plan", "verify"]);
    }
}

#[test]
fn the_preview_of_an_undone_plan_says_only_what_goes() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete"), task("1.2", &["1.1"], "complete")]]);
    arena.ok(&["task", "add", "More", "--id", "1.3"]);
    let look = arena.ok(&["undo", "--dry-run"]);
    assert!(look.contains("task 1.3 is removed from the plan"), "{look}");
    for word in ["waived", "moves", "1.2", "edited"] {
        assert!(!look.contains(word), "{word} in: {look}");
    }
}

#[test]
fn branches_and_unmerged_commits_that_go_are_named_before_they_do() {
    let arena = stopped_in("write one.txt one\ncommit feat: one\nwrite two.txt two");
    let look = arena.ok(&["abort", "--dry-run"]);
    assert!(look.contains("the branch swarm/1.1 goes"), "{look}");
    assert!(look.contains("1 unmerged commit of it") && look.contains("feat: one"), "{look}");
    assert!(look.contains("kept in before-abort"), "{look}");
    assert!(look.contains("Back to the checkpoint session-start"), "{look}");
    let look = arena.ok(&["task", "rollback", "1.1", "--dry-run"]);
    assert!(look.contains("feat: one") && look.contains("the branch swarm/1.1 moves from"), "{look}");
}

#[test]
fn a_number_is_answered_with_the_name_and_the_time_of_the_checkpoint() {
    let arena = stopped_in("write one.txt one\ncommit feat: one");
    arena.ok(&["checkpoint", "create", "mine"]);
    arena.ok(&["task", "block", "1.1", "later"]);
    let at =
        arena.json(&["checkpoint", "show", "mine"])["at"].as_str().expect("a time")[..19].replace('T', " ");
    let look = arena.ok(&["rollback", "1", "--dry-run"]);
    assert!(look.contains(&format!("Back to the checkpoint mine of {at}")), "{look}");
}

#[test]
fn local_changes_that_were_put_aside_are_named_listed_and_come_back_with_the_undo() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.write("one.txt", "mine\n");
    let refused = arena.swarm(&["rollback", "--session", "--yes"]);
    assert!(!refused.status.success() && said(&refused).contains("--save-local"), "{}", said(&refused));
    let look = arena.ok(&["rollback", "--session", "--save-local", "--dry-run"]);
    let name = "refs/swarm/local/before-rollback";
    assert!(look.contains(name) && look.contains("one.txt"), "{look}");
    arena.ok(&["rollback", "--session", "--save-local", "--yes"]);
    assert!(!arena.root.join("one.txt").exists(), "it is out of the way");
    assert_eq!(arena.git(&["show", &format!("{name}:one.txt")]), "mine\n");
    let listed = arena.ok(&["restore"]);
    assert!(listed.contains(name) && listed.contains("your local changes"), "{listed}");
    let look = arena.ok(&["undo", "--dry-run"]);
    assert!(look.contains(name) && look.contains("come back"), "{look}");
    arena.ok(&["undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(arena.root.join("one.txt")).expect("it is back"), "mine\n");
    assert_eq!(arena.git(&["show", "main:one.txt"]), "one\n", "trunk has the swarm's own");
    arena.assert_tidy();
}

/// What is said of work under way that goes along to another task.
fn taken_along(config: serde_json::Value) -> String {
    let arena = arena_with(config);
    let script = "write one.txt one\ncommit feat: one\nwrite two.txt two\nprint at work\nsleep 600000";
    arena.plan_in_phases(&[vec![task("1.1", &[], script), task("1.2", &[], "complete")]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let look = arena.ok(&["agent", "redirect", "1.1", "1.2", "--same-worktree", "--dry-run"]);
    arena.ok(&["stop"]);
    run.end();
    assert!(look.contains("begins 1.2 and is merged with it, finished or not"), "{look}");
    look
}

#[test]
fn work_that_is_taken_along_is_said_to_be_merged() {
    let look = taken_along(json!({ "sandbox": "none" }));
    assert!(
        look.contains("1 commit (") && look.contains("feat: one") && look.contains("1 changed file,"),
        "{look}"
    );
}

/// Behind walls an agent's commits are its own until it hands them in: until then they are changed files.
#[test]
fn work_that_was_not_handed_in_yet_is_told_by_its_files() {
    let look = taken_along(json!({}));
    assert!(
        look.contains("one.txt") && look.contains("two.txt") && look.contains("2 changed files"),
        "{look}"
    );
}

#[test]
fn restore_brings_back_the_work_and_not_an_empty_branch_beside_it() {
    // Nothing is committed: the branch that is kept has nothing of its own.
    let arena = stopped_in("write two.txt two");
    arena.ok(&["task", "cancel", "1.1"]);
    // Whoever carries out anything gives the worktree up.
    arena.ok(&["checkpoint", "create", "without"]);
    assert!(arena.worktrees().iter().all(|path| !path.ends_with("/1.1")), "it was given up");
    let kept = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/kept/1.1"]);
    assert!(!kept.trim().is_empty(), "a branch without commits was kept");
    let all = arena.json(&["restore", "--all"]);
    let all = all.as_array().expect("a list");
    let listed = arena.json(&["restore"]).as_array().expect("a list").clone();
    assert_eq!(listed.len(), 1, "the work, once: {listed:?}");
    assert!(all.iter().all(|one| !one["name"].as_str().unwrap_or_default().contains("pool-")), "{all:?}");
    let empty = all.iter().find(|one| one["name"].as_str() == Some(kept.trim())).expect("it is listed");
    assert_eq!((&empty["commits"], &empty["files"]), (&json!(0), &json!(0)), "and said to be empty");
    let back = arena.json(&["restore", "1.1"]);
    let path = arena.root.join(back["path"].as_str().expect("a folder"));
    assert_eq!(std::fs::read_to_string(path.join("two.txt")).expect("the work"), "two\n");
}

#[test]
fn a_close_is_looked_at_confirmed_and_taken_back_with_everything() {
    let arena = stopped_in("write one.txt one\ncommit feat: one\nwrite two.txt two");
    arena.ok(&["plan", "export"]);
    std::fs::copy(arena.root.join(".swarm/SWARM_PLAN.json"), arena.root.join("SWARM_PLAN.json"))
        .expect("a copy");
    arena.write("SWARM_PLAN.md", "# Something else\n\n- [ ] 9.9 Not in this plan\n");
    let before = Outside::of(&arena);
    let look = arena.ok(&["close", "--dry-run"]);
    assert!(
        look.contains("the worktree of 1.1 goes") && look.contains("task 1.1: pending → cancelled"),
        "{look}"
    );
    assert!(look.contains(".swarm/archive/plan-") && look.contains("`swarm undo` restores it"), "{look}");
    let out = arena.swarm(&["close"]);
    assert_eq!(out.status.code(), Some(2), "nobody can be asked here: {}", said(&out));
    Outside::of(&arena).assert_is(&before, "nothing was done");

    arena.ok(&["close", "--yes"]);
    assert!(!arena.root.join(".swarm/plan-ledger.jsonl").exists());
    assert!(!arena.root.join("SWARM_PLAN.json").exists(), "the ledger has what it held");
    assert!(arena.root.join("SWARM_PLAN.md").exists(), "another plan is not ours to take");
    let archive = arena.root.join(".swarm/archive");
    let names: Vec<String> = std::fs::read_dir(&archive)
        .expect("the archive")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let plan =
        names.iter().find(|name| name.ends_with(".plan.json") && !name.contains("root")).expect("the plan");
    let plan = std::fs::read_to_string(archive.join(plan)).expect("text");
    assert!(
        plan.contains("\"pending\"") && !plan.contains("cancelled"),
        "it shows what the task was: {plan}"
    );
    let closed = std::fs::read(archive.join(names.iter().find(|n| n.ends_with(".jsonl")).expect("a ledger")))
        .expect("bytes");

    let look = arena.ok(&["undo", "--dry-run"]);
    assert!(look.contains("task 1.1: cancelled → pending"), "{look}");
    assert!(!arena.root.join(".swarm/plan-ledger.jsonl").exists(), "a look changes nothing");
    arena.ok(&["undo", "--yes"]);
    Outside::of(&arena).assert_is(&before, "the close undone");
    let ledger = std::fs::read(arena.root.join(".swarm/plan-ledger.jsonl")).expect("it is back");
    assert!(ledger.starts_with(&closed), "nothing of it was rewritten");
    assert!(String::from_utf8_lossy(&ledger[closed.len()..]).contains("plan_reopened"));
    arena.ok(&["plan", "verify"]);
    let log = arena.ok(&["op", "log"]);
    assert!(!log.contains("before-close"), "the checkpoint of a close is nobody's wish: {log}");
    arena.ok(&[
        "task",
        "edit",
        "1.1",
        "--description",
        "```script\nwrite three.txt three\ncommit feat: rest\ncomplete\n```",
    ]);
    let (code, ran) = arena.run(&[]);
    assert_eq!(code, 0, "{ran}");
    let trunk = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(["one.txt", "two.txt", "three.txt"].iter().all(|name| trunk.contains(name)), "{trunk}");
    arena.assert_tidy();
}

#[test]
fn after_a_close_every_command_that_needs_the_plan_names_the_way_back_to_it() {
    let arena = stopped_in("write one.txt one\ncommit feat: one");
    arena.ok(&["close", "--yes"]);
    for command in [
        &["status"][..],
        &["task", "show", "1.1"],
        &["task", "rollback", "1.1", "--yes"],
        &["task", "unblock", "1.1"],
        &["rollback", "session-start", "--yes"],
        &["abort", "--yes"],
        &["checkpoint", "create", "now"],
        &["run", "--retry"],
    ] {
        let out = arena.swarm(command);
        assert!(!out.status.success(), "{command:?}");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(said.contains("swarm plan reopen"), "swarm {command:?}: {said}");
    }
}

#[test]
fn a_closed_plan_outlives_a_clean_checkout() {
    let arena = stopped_in("write one.txt one\ncommit feat: one");
    arena.ok(&["close", "--yes"]);
    arena.git(&["clean", "-ffdxq"]);
    assert!(!arena.root.join(".swarm").exists());
    assert!(said(&arena.swarm(&["plan", "reopen", "--dry-run"])).contains("the ledger comes back from"));
    arena.ok(&["plan", "reopen", "--yes"]);
    assert_eq!(arena.tasks().len(), 1);
    assert!(arena.root.join(".swarm/.gitignore").exists(), "or `git add` would take the ledger");
    // A stash takes it along.
    std::fs::remove_file(arena.root.join(".swarm/.gitignore")).expect("it is there");
    arena.ok(&["mode", "semi-auto"]);
    assert!(arena.root.join(".swarm/.gitignore").exists());
}

#[test]
fn a_plan_is_not_reopened_over_another_one() {
    let arena = stopped_in("write one.txt one\ncommit feat: one");
    arena.ok(&["close", "--yes"]);
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
    let out = arena.swarm(&["plan", "reopen", "--yes"]);
    assert!(!out.status.success() && said(&out).contains("swarm close"), "{}", said(&out));
    arena.ok(&["close", "--yes"]);
    let names: Vec<String> = std::fs::read_dir(arena.root.join(".swarm/archive"))
        .expect("the archive")
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    let first = names.iter().min().expect("two were closed");
    arena.ok(&["plan", "reopen", first, "--yes"]);
    let worktree = arena.worktrees().into_iter().find(|path| path.ends_with("/1.1")).expect("it is back");
    assert!(files(Path::new(&worktree)).contains_key("one.txt"));
    arena.ok(&["plan", "verify"]);
}
