//! A repository that is moved or copied takes its swarm along: nothing blocks, nothing is done twice, and the original
//! of a copy is left alone.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::arena_with;

/// Stopped with one commit and one file that is not committed in the worktree of 1.1.
fn with_work_under_way() -> (Arena, PathBuf) {
    let arena = arena_with(json!({ "check": { "commands": [] } }));
    let go = arena.path("go");
    let script = format!(
        "write one.txt one\ncommit feat: one\nwrite two.txt two\nwait-for {}\ncommit feat: two\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    (arena, go)
}

fn until_uncommitted(arena: &Arena) {
    wait_for("the uncommitted file", || arena.root.join(".swarm/worktrees/1.1/two.txt").exists());
}

fn move_to(arena: &mut Arena, name: &str) -> PathBuf {
    let there = arena.path(name);
    let old = std::mem::replace(&mut arena.root, there);
    std::fs::rename(&old, &arena.root).expect("moved");
    old
}

/// The rest of the plan, and the worktree's work is in it.
fn ends_well(arena: &Arena, go: &Path) {
    std::fs::write(go, "").expect("a file");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("is not a worktree"), "{said}");
    // The script says it in each attempt; from the beginning it would have had nothing else to commit the second time.
    assert_eq!(arena.commits("main", "feat: one"), 2, "the commit before the move is on trunk: {said}");
    assert_eq!(arena.git(&["show", "main:two.txt"]), "two\n");
    arena.assert_tidy();
}

#[test]
fn a_repository_that_was_moved_while_stopped_goes_on_at_its_new_place() {
    let (mut arena, go) = with_work_under_way();
    let run = arena.start(&[]);
    until_uncommitted(&arena);
    arena.ok(&["stop"]);
    run.end();
    move_to(&mut arena, "elsewhere");
    let doctor = String::from_utf8(arena.swarm(&["doctor"]).stdout).expect("text");
    assert!(doctor.contains("the place the repository had before"), "{doctor}");
    arena.swarm(&["doctor", "--fix"]);
    let status = arena.git(&["-C", ".swarm/worktrees/1.1", "status", "--short"]);
    assert!(status.contains("two.txt"), "git works in it again: {status}");
    ends_well(&arena, &go);
}

#[test]
fn a_repository_that_is_moved_under_agents_at_work_is_found_again_by_the_next_run() {
    let (mut arena, go) = with_work_under_way();
    let mut run = arena.start(&[]);
    until_uncommitted(&arena);
    move_to(&mut arena, "elsewhere");
    run.kill_9();
    ends_well(&arena, &go);
}

#[test]
fn a_copy_of_a_repository_goes_on_with_its_own_worktrees_and_leaves_those_of_the_original() {
    let (mut arena, go) = with_work_under_way();
    let run = arena.start(&[]);
    until_uncommitted(&arena);
    arena.ok(&["stop"]);
    run.end();
    let there = arena.path("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(&arena.root).arg(&there).status();
    assert!(copied.is_ok_and(|status| status.success()));
    let original = std::mem::replace(&mut arena.root, there);
    let heads = |arena: &Arena| {
        let git = |args: &[&str]| arena.git(&[&["-C", original.to_str().expect("text")], args].concat());
        let status = git(&["-C", ".swarm/worktrees/1.1", "status", "--short", "--branch"]);
        (git(&["for-each-ref"]), git(&["worktree", "list", "--porcelain"]), status)
    };
    let before = heads(&arena);
    ends_well(&arena, &go);
    assert_eq!(heads(&arena), before, "the original is as it was");
}
