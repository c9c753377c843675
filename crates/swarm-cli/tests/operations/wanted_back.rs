//! Work that gave way and is wanted back: of cancelled tasks, of agents that went on after a rollback, of a closed plan.

use std::path::Path;

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};
use crate::outside::{Outside, files};

fn said(out: &std::process::Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout)
}

/// One task is half done: committed, and more that is not. Nobody is at work any more.
fn half_done() -> Arena {
    let arena = arena_with(json!({}));
    let script = "write one.txt one\ncommit feat: one\nwrite two.txt two\nprint at work\nsleep 600000";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    arena.ok(&["stop"]);
    run.end();
    arena
}

#[test]
fn a_cancelled_task_that_is_wanted_back_comes_with_its_branch_and_its_uncommitted_files() {
    let arena = half_done();
    let before = Outside::of(&arena);
    assert_eq!(before.worktrees.len(), 1);
    arena.ok(&["task", "cancel", "1.1"]);
    let cancel = arena.json(&["op", "log", "-n", "1"])[0]["id"].as_str().expect("an id").to_owned();
    // Whoever carries out anything carries this out too.
    arena.ok(&["checkpoint", "create", "without"]);
    assert!(Outside::of(&arena).worktrees.is_empty(), "it was given up");
    arena.ok(&["undo", &cancel, "--yes"]);
    Outside::of(&arena).assert_is(&before, "undone");
    arena.ok(&["plan", "verify"]);
}

#[test]
fn an_undone_abort_brings_worktrees_back_as_they_were() {
    let arena = half_done();
    let before = Outside::of(&arena);
    arena.ok(&["abort", "--yes"]);
    assert!(Outside::of(&arena).worktrees.is_empty(), "they were given up");
    arena.ok(&["undo", "--yes"]);
    Outside::of(&arena).assert_is(&before, "the abort undone");
}

#[test]
fn an_undo_over_agents_that_went_on_says_so_and_with_the_word_keeps_what_they_did() {
    let arena = arena_with(json!({}));
    let script = "write one.txt one\ncommit feat: one\nprint at work\nsleep 600000";
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write zero.txt zero\ncommit feat: zero\ncomplete"),
        task("1.2", &["1.1"], script),
    ]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let worktree = || arena.worktrees().into_iter().find(|path| path.ends_with("/1.2"));
    std::fs::write(Path::new(&worktree().expect("there")).join("mine.txt"), "first").expect("a file");
    arena.ok(&["task", "rollback", "1.2", "--yes"]);
    // Autopilot: the agent begins again at once, in the worktree that was set back.
    wait_for("it is at work again", || arena.printed().matches("at work").count() >= 2);
    std::fs::write(Path::new(&worktree().expect("there")).join("since.txt"), "since").expect("a file");

    let out = arena.swarm(&["undo", "--yes"]);
    assert!(!out.status.success() && said(&out).contains("--set-aside"), "{}", said(&out));
    assert!(arena.processes().iter().any(|process| process.contains("script-agent")), "nobody was stopped");

    arena.ok(&["pause"]);
    let undo = arena.json(&["op", "log"])[1]["id"].as_str().expect("the rollback").to_owned();
    let preview = arena.json(&["undo", &undo, "--set-aside", "--dry-run"]);
    let kept = preview["says"]["work"].to_string();
    assert!(kept.contains("what was done for 1.2 since is kept in before-undo"), "{preview:#}");
    arena.ok(&["undo", &undo, "--set-aside", "--yes"]);
    let back = files(Path::new(&worktree().expect("there")));
    assert!(back.contains_key("mine.txt") && !back.contains_key("since.txt"), "{:?}", back.keys());
    let since = arena.git(&["show", "refs/swarm/checkpoints/before-undo/dirty/1.2:since.txt"]);
    assert_eq!(since, "since");

    arena.ok(&["redo", "--yes"]);
    let again = files(Path::new(&worktree().expect("there")));
    assert!(again.contains_key("since.txt") && !again.contains_key("mine.txt"), "{:?}", again.keys());
    arena.ok(&["stop"]);
    run.end();
    arena.ok(&["plan", "verify"]);
}

#[test]
fn a_closed_plan_leaves_its_unfinished_work_in_a_checkpoint_and_no_worktree() {
    let arena = half_done();
    let out = arena.swarm(&["close", "--yes"]);
    assert!(out.status.success(), "{}", said(&out));
    let said = said(&out);
    let name = said.split("in the checkpoint ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let dirty = format!("refs/swarm/checkpoints/{}/dirty/1.1:two.txt", name.expect("it is named"));
    assert_eq!(arena.git(&["show", &dirty]).trim(), "two");
    let left: Vec<String> = arena.worktrees().into_iter().filter(|path| !path.ends_with("/merge")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(arena.ok(&["restore"]).contains("1.1"), "it can be brought back");
    // The next plan may have a task of the same name: it begins anew.
    arena.plan_in_phases(&[vec![task("1.1", &[], "write three.txt three\ncommit feat: three\ncomplete")]]);
    let (code, ran) = arena.run(&[]);
    assert_eq!(code, 0, "{ran}");
    let trunk = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(trunk.contains("three.txt") && !trunk.contains("one.txt"), "{trunk}");
    arena.assert_tidy();
}

/// Rules that an agent wrote and did not commit go with what it did; what they covered is its work too, and nobody else's.
#[test]
fn files_that_only_a_killed_agent_had_ignored_do_not_come_to_trunk_with_the_next_attempt() {
    let arena = arena_with(json!({}));
    let script = "on-attempt 1: write .gitignore hidden.env\non-attempt 1: write hidden.env hidden\n\
                  on-attempt 1: print at work\non-attempt 1: sleep 600000\n\
                  write one.txt one\ncommit feat: one\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    arena.ok(&["agent", "kill", "1.1"]);
    arena.ok(&["task", "start", "1.1"]);
    let (code, ran) = run.end();
    assert_eq!(code, 0, "{ran}");
    assert_eq!(arena.git(&["ls-tree", "--name-only", "main"]), "README.md\none.txt\n");
    let trash = files(&arena.root.join(".swarm/trash"));
    assert!(trash.keys().any(|path| path.contains("ignored-no-more")), "{:?}", trash.keys());
    arena.assert_tidy();
}

/// A whole names the commits of its parts, and has none of its own.
#[test]
fn a_part_that_is_rolled_back_takes_no_other_part_with_it_and_a_whole_takes_all_of_them() {
    let arena = arena_with(json!({}));
    let after = "write two.txt two\ncommit feat: two\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete"), task("1.2", &["1.1"], after)]]);
    let parts = arena.path("parts.md");
    std::fs::write(&parts, "- [ ] Part one\n- [ ] Part two\n").expect("a file");
    arena.ok(&["task", "split", "1.1", &parts.to_string_lossy()]);
    let (code, ran) = arena.run(&["--agents", "1"]);
    assert_eq!(code, 0, "{ran}");
    arena.ok(&["mode", "semi-auto"]);
    let trunk = arena.git(&["rev-parse", "main^{tree}"]);

    let preview = arena.ok(&["task", "rollback", "1.1-2", "--cascade", "--dry-run"]);
    assert!(!preview.contains("1.1-1"), "{preview}");
    arena.ok(&["task", "rollback", "1.1-2", "--cascade", "--yes"]);
    let statuses = || ["1.1", "1.1-1", "1.1-2", "1.2"].map(|id| arena.status_of(id));
    assert_eq!(statuses(), ["active", "done", "pending", "pending"]);

    arena.ok(&["undo", "--yes"]);
    assert_eq!(statuses(), ["done", "done", "done", "done"]);
    assert_eq!(arena.git(&["rev-parse", "main^{tree}"]), trunk);
    arena.ok(&["task", "rollback", "1.1", "--cascade", "--yes"]);
    assert_eq!(statuses(), ["active", "pending", "pending", "pending"], "it still has its parts");
    let (code, ran) = arena.run(&[]);
    assert_eq!((code, statuses()), (0, ["done", "done", "done", "done"].map(String::from)), "{ran}");
    assert_eq!(arena.git(&["rev-parse", "main^{tree}"]), trunk);
    arena.assert_tidy();
}
