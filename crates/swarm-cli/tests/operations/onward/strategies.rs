//! Work that was taken back and is merged again, however it comes to trunk: as one commit or by a merge commit.

use serde_json::json;

use super::{ends_with, writes};
use crate::arena::Arena;
use crate::ground::{arena_with, task};

const ALL: [&str; 4] = ["four.txt", "one.txt", "three.txt", "two.txt"];

fn three_done(strategy: &str) -> Arena {
    let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
    let twice = "write three.txt three\ncommit feat: three\nwrite four.txt four\ncommit feat: four\ncomplete";
    arena.plan_in_phases(&[vec![
        task("1.1", &[], &writes("one")),
        task("1.2", &["1.1"], &writes("two")),
        task("1.3", &["1.2"], twice),
    ]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena
}

fn strategies() -> impl Iterator<Item = (&'static str, Arena)> {
    ["commits", "squash", "merge"].into_iter().map(|strategy| (strategy, three_done(strategy)))
}

#[test]
fn what_an_abort_took_back_is_merged_again() {
    for (strategy, arena) in strategies() {
        println!("{strategy}");
        arena.commit("mine.txt", "mine\n");
        arena.ok(&["abort", "--yes"]);
        let (code, said) = arena.run(&["--retry"]);
        assert_eq!(code, 0, "{strategy}: {said}");
        ends_with(&arena, &[&ALL[..], &["mine.txt"]].concat());
    }
}

#[test]
fn what_a_person_reverted_is_merged_again() {
    for (strategy, arena) in strategies() {
        println!("{strategy}");
        match strategy {
            "merge" => arena.git(&["revert", "--no-edit", "-m", "1", "HEAD"]),
            "squash" => arena.git(&["revert", "--no-edit", "HEAD"]),
            _ => arena.git(&["revert", "--no-edit", "HEAD", "HEAD~1"]),
        };
        arena.run(&[]);
        assert_eq!(arena.status_of("1.3"), "gone", "{strategy}");
        let (code, said) = arena.run(&["--retry"]);
        assert_eq!(code, 0, "{strategy}: {said}");
        ends_with(&arena, &ALL);
    }
}

#[test]
fn what_a_rollback_took_back_behind_a_commit_of_a_person_is_done_again() {
    for (strategy, arena) in strategies() {
        println!("{strategy}");
        arena.commit("mine.txt", "mine\n");
        arena.ok(&["rollback", "before-merge-1.2", "--yes"]);
        let (code, said) = arena.run(&[]);
        assert_eq!(code, 0, "{strategy}: {said}");
        ends_with(&arena, &[&ALL[..], &["mine.txt"]].concat());
    }
}

/// A revert that came before the commit it looks like is about another one.
#[test]
fn what_was_done_again_stays_done_in_the_runs_after_it() {
    for (strategy, arena) in strategies() {
        println!("{strategy}");
        arena.ok(&["task", "rollback", "1.2", "--cascade", "--yes"]);
        for _ in 0..2 {
            let (code, said) = arena.run(&[]);
            assert_eq!(code, 0, "{strategy}: {said}");
            ["1.1", "1.2", "1.3"].iter().for_each(|id| assert_eq!(arena.status_of(id), "done", "{strategy}"));
        }
        ends_with(&arena, &ALL);
    }
}

/// With merge commits the agents' own commits are on trunk too: they are work, and nobody's revert.
#[test]
fn a_task_that_undoes_what_another_wrote_leaves_both_done_however_they_were_merged() {
    for strategy in ["commits", "squash", "merge"] {
        let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
        let write = |text: &str| format!("write README.md {text}\ncommit feat: {text}\ncomplete");
        arena.plan_in_phases(&[vec![
            task("1.1", &[], &write("other")),
            task("1.2", &["1.1"], &write("hello")),
        ]]);
        for _ in 0..2 {
            let (code, said) = arena.run(&[]);
            assert_eq!(code, 0, "{strategy}: {said}");
        }
        arena.assert_all_done();
    }
}

/// Looked at twice, and by a retry: what was restated once is found again, also where later work changed the same lines.
#[test]
fn rebased_work_stays_done_however_often_it_is_looked_at() {
    for strategy in ["commits", "squash", "merge"] {
        for onto in [&["up"][..], &["--force-rebase", "--root"]] {
            let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
            let first = "write a.txt A\ncommit feat: a1\nwrite b.txt B\ncommit feat: a2\ncomplete";
            let second = "append a.txt more\nwrite c.txt C\ncommit feat: c\ncomplete";
            arena.plan_in_phases(&[vec![task("1.1", &[], first), task("1.2", &["1.1"], second)]]);
            assert_eq!(arena.run(&[]).0, 0);
            let root = arena.git(&["rev-list", "--max-parents=0", "main"]).trim().to_owned();
            arena.git(&["checkout", "--quiet", "-b", "up", &root]);
            arena.git(&["commit", "--quiet", "--allow-empty", "--message", "up"]);
            arena.git(&["checkout", "--quiet", "main"]);
            arena.git(&[&["rebase", "--quiet"], onto].concat());
            for how in [&[][..], &["--retry"], &[]] {
                let (code, said) = arena.run(how);
                assert_eq!(code, 0, "{strategy} {onto:?} {how:?}: {said}");
                arena.assert_all_done();
            }
            assert_eq!(arena.git(&["show", "main:a.txt"]), "A\nmore\n", "{strategy} {onto:?}");
        }
    }
}
