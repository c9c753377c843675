//! A person's uncommitted and untracked files, and commits made before, between and after, survive every operation.

use std::process::Command;

use serde_json::json;

use crate::arena::Arena;
use crate::ground::{arena_with, task};
use crate::outside::files;

/// Where the person stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    OnTrunk,
    Elsewhere,
}

/// Who else has commits of trunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remote {
    None,
    HasTheFirst,
}

const SUBJECTS: [&str; 3] = ["person: before.txt", "person: between.txt", "person: after.txt"];

fn done_with_commits_between(remote: Remote) -> Arena {
    let arena = arena_with(json!({}));
    arena.commit("before.txt", "before");
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
    assert_eq!(arena.run(&[]).0, 0);
    if remote == Remote::HasTheFirst {
        let bare = arena.path("remote.git");
        let made = Command::new("git").args(["init", "--quiet", "--bare"]).arg(&bare).status();
        assert!(made.expect("git runs").success());
        arena.git(&["remote", "add", "origin", bare.to_str().expect("text")]);
        arena.git(&["push", "--quiet", "origin", "main"]);
    }
    arena.commit("between.txt", "between");
    arena.ok(&[
        "task",
        "add",
        "Do 1.2",
        "--id",
        "1.2",
        "--phase",
        "1",
        "--description",
        "```script\nwrite two.txt two\ncommit feat: two\ncomplete\n```",
    ]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.commit("after.txt", "after");
    arena
}

/// Changes of the person that nobody has committed.
fn leave_things_lying_about(arena: &Arena) {
    arena.write("README.md", "hello, and something I am just writing\n");
    arena.write("notes/todo \u{e9}.txt", "not for git\n");
    arena.write("staged.txt", "staged\n");
    arena.git(&["add", "staged.txt"]);
}

fn check(stand: Stand, remote: Remote) {
    let arena = done_with_commits_between(remote);
    if stand == Stand::Elsewhere {
        arena.git(&["switch", "--quiet", "--create", "mine", "main~3"]);
    }
    leave_things_lying_about(&arena);
    let own = |arena: &Arena| {
        let mut all = files(&arena.root);
        all.retain(|name, _| {
            ["README.md", "staged.txt"].contains(&name.as_str()) || name.starts_with("notes/")
        });
        (all, arena.git(&["diff", "--cached", "--name-only", "--", "staged.txt", "README.md"]))
    };
    let mine = own(&arena);
    let head = arena.git(&["symbolic-ref", "HEAD"]);
    for command in [
        &["task", "rollback", "1.1"][..],
        &["undo"],
        &["rollback", "before-merge-1.1"],
        &["undo"],
        &["rollback", "--session"],
        &["undo"],
        &["abort"],
        &["undo"],
    ] {
        let what = format!("{stand:?}, {remote:?}: {command:?}");
        arena.ok(&[command, &["--yes"]].concat());
        assert!(own(&arena) == mine, "{what}: the person's own files");
        assert_eq!(arena.git(&["symbolic-ref", "HEAD"]), head, "{what}: where the person stands");
        for subject in SUBJECTS {
            assert_eq!(arena.commits("main", subject), 1, "{what}: {subject}");
        }
        if remote == Remote::HasTheFirst {
            arena.git(&["merge-base", "--is-ancestor", "origin/main", "main"]);
        }
    }
    arena.assert_all_done();
    let trunk = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(trunk.contains("one.txt") && trunk.contains("two.txt"), "{trunk}");
    arena.ok(&["plan", "verify"]);
}

#[test]
fn on_trunk_without_a_remote() {
    check(Stand::OnTrunk, Remote::None);
}

#[test]
fn on_trunk_with_a_remote_that_has_some() {
    check(Stand::OnTrunk, Remote::HasTheFirst);
}

#[test]
fn on_another_branch_without_a_remote() {
    check(Stand::Elsewhere, Remote::None);
}

#[test]
fn on_another_branch_with_a_remote_that_has_some() {
    check(Stand::Elsewhere, Remote::HasTheFirst);
}

#[test]
fn a_change_to_a_file_that_would_change_is_refused_and_with_the_word_kept_on_a_ref() {
    let arena = done_with_commits_between(Remote::None);
    arena.write("one.txt", "my own words\n");
    let out = arena.swarm(&["task", "rollback", "1.1", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains("one.txt") && said.contains("--save-local"), "{said}");
    assert_eq!(std::fs::read_to_string(arena.root.join("one.txt")).expect("there"), "my own words\n");
    let told = arena.ok(&["task", "rollback", "1.1", "--save-local", "--yes"]);
    let name = told.split("your local changes are at ").nth(1).expect("where they are").trim();
    assert_eq!(arena.git(&["show", &format!("{name}:one.txt")]), "my own words\n");
}

#[test]
fn a_repository_in_the_way_of_a_rollback_is_never_taken_for_files_and_what_is_offered_leads_on() {
    let arena = arena_with(json!({}));
    arena.commit("lib", "a file of trunk");
    arena.plan_in_phases(&[vec![task(
        "1.1",
        &[],
        "sh git rm --quiet lib\ncommit feat: without lib\ncomplete",
    )]]);
    assert_eq!(arena.run(&[]).0, 0);
    // In the place itself, or in a folder there.
    for inside in ["lib", "lib/vendor"] {
        let place = arena.root.join(inside);
        std::fs::create_dir_all(&place).expect("a folder");
        let git = |args: &[&str]| {
            let out = Command::new("git").arg("-C").arg(&place).args(args).output().expect("git runs");
            assert!(out.status.success(), "{args:?}: {out:?}");
            String::from_utf8_lossy(&out.stdout).trim().to_owned()
        };
        git(&["init", "--quiet"]);
        git(&["commit", "--quiet", "--allow-empty", "--message=nowhere else"]);
        for flags in [&["--yes"][..], &["--save-local", "--yes"]] {
            let out = arena.swarm(&[&["task", "rollback", "1.1"], flags].concat());
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(!out.status.success() && said.contains("repository of its own"), "{flags:?}: {said}");
            assert!(said.contains("mv ") && !said.contains("--save-local"), "{flags:?}: {said}");
            assert_eq!(git(&["log", "--format=%s"]), "nowhere else");
        }
        std::fs::rename(arena.root.join("lib"), arena.root.join(format!("kept-{}", inside.len())))
            .expect("moved");
    }
    arena.ok(&["task", "rollback", "1.1", "--yes"]);
    assert_eq!(arena.git(&["show", "main:lib"]).trim(), "a file of trunk");
}

/// Commits something in a worktree, as a person would.
fn commit_in(arena: &Arena, task: &str, name: &str) {
    let place = arena.root.join(".swarm/worktrees").join(task);
    std::fs::write(place.join(name), name).expect("written");
    for args in [&["add", "--all"][..], &["commit", "--quiet", "--message=more"]] {
        let done = Command::new("git").arg("-C").arg(&place).args(args).status();
        assert!(done.expect("git runs").success(), "{args:?}");
    }
}

fn is_on_trunk(arena: &Arena, name: &str) {
    assert!(arena.git(&["ls-tree", "--name-only", "main"]).lines().any(|line| line == name), "{name}");
}

#[test]
fn a_worktree_that_a_person_made_for_done_work_goes_with_the_rollback_and_the_work_is_done_anew() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.ok(&["worktree", "create", "1.1"]);
    commit_in(&arena, "1.1", "more.txt");
    arena.ok(&["rollback", "--session", "--yes"]);
    assert!(!arena.root.join(".swarm/worktrees/1.1").exists(), "it would begin on commits that are gone");
    arena.ok(&["undo", "--yes"]);
    assert!(arena.root.join(".swarm/worktrees/1.1/more.txt").exists(), "the person's work comes back");
    arena.ok(&["redo", "--yes"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    is_on_trunk(&arena, "one.txt");
    arena.assert_proven("1.1", "main");
}

#[test]
fn what_had_landed_before_a_rollback_is_not_shown_as_proof_after_it() {
    let arena = arena_with(json!({}));
    arena.commit(".gitignore", ".env\n");
    let script = "write one.txt one\nsh echo secret > .env\ncommit feat: one\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    // Its worktree is kept for the file that git ignores, so that there can be more.
    assert_eq!(arena.run(&[]).0, 0);
    commit_in(&arena, "1.1", "more.txt");
    arena.ok(&["worktree", "merge", "1.1"]);
    arena.ok(&["rollback", "session-start", "--yes"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    is_on_trunk(&arena, "one.txt");
    arena.assert_proven("1.1", "main");
}
