//! People who change the swarm's commits with git itself.

use serde_json::json;

use super::{ends_with, on_trunk, two_done, two_done_and_one_half, writes};
use crate::arena::Arena;
use crate::ground::{arena_with, task};

const BOTH: [&str; 2] = ["one.txt", "two.txt"];

/// The task is not simply done any more: it is said that its work has gone, and how it comes back.
#[track_caller]
fn assert_gone(arena: &Arena, id: &str) {
    let attention = arena.attention();
    assert_ne!(arena.status_of(id), "done", "{attention}");
    assert!(attention.contains(id) && attention.contains("swarm "), "{id} is not named: {attention}");
}

fn has(arena: &Arena, file: &str) -> bool {
    on_trunk(arena).iter().any(|name| name == file)
}

#[test]
fn a_commit_that_a_person_reworded_is_rolled_back_all_the_same() {
    let arena = two_done();
    arena.git(&["commit", "--quiet", "--amend", "--message", "feat: two, in better words"]);
    arena.ok(&["task", "rollback", "1.2", "--yes"]);
    assert!(!has(&arena, "two.txt"), "it said that it was rolled back: {:?}", on_trunk(&arena));
    ends_with(&arena, &BOTH);
}

#[test]
fn a_commit_that_a_person_only_reworded_is_still_done_and_its_proof_names_it() {
    let arena = two_done();
    let before = arena.shown("1.2")["proof"]["commit"].clone();
    arena.git(&["commit", "--quiet", "--amend", "--message", "feat: two, in better words"]);
    // A view sees it at once, the ledger has it after the next run, and a reset to the old commit is seen as well.
    let now = arena.git(&["rev-parse", "main"]).trim().to_owned();
    assert_eq!(arena.shown("1.2")["proof"]["commit"], now.as_str());
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    let shown = arena.shown("1.2");
    assert_eq!((&shown["proof"]["commit"], &shown["attempts"]), (&now.as_str().into(), &1.into()), "{shown}");
    arena.git(&["reset", "--quiet", "--hard", before.as_str().expect("a commit")]);
    assert_eq!(arena.shown("1.2")["proof"]["commit"], before);
    ends_with(&arena, &BOTH);
}

#[test]
fn behind_a_commit_that_a_person_reworded_a_rollback_takes_back_what_it_says() {
    let arena = two_done();
    arena.git(&["commit", "--quiet", "--amend", "--message", "feat: two, in better words"]);
    let out = arena.swarm(&["rollback", "before-merge-1.1", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    match out.status.success() {
        true => assert!(!has(&arena, "one.txt") && !has(&arena, "two.txt"), "{:?}", on_trunk(&arena)),
        false => {
            assert!(said.contains("swarm ") && has(&arena, "one.txt") && has(&arena, "two.txt"), "{said}")
        }
    }
    ends_with(&arena, &BOTH);
}

#[test]
fn a_commit_that_a_person_added_to_keeps_what_was_added() {
    let arena = two_done();
    arena.write("added.txt", "added\n");
    arena.git(&["add", "added.txt"]);
    arena.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    let out = arena.swarm(&["task", "rollback", "1.2", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.success(), !has(&arena, "two.txt"), "what is said is what happened: {said}");
    assert!(has(&arena, "added.txt"), "it is the person's: {:?}", on_trunk(&arena));
    ends_with(&arena, &["added.txt", "one.txt", "two.txt"]);
}

/// As with a later commit of theirs: the person's word about these lines. Without the file it is not the task's work.
#[test]
fn a_commit_whose_lines_a_person_edited_with_an_amend_is_still_done() {
    let arena = two_done();
    arena.write("two.txt", "two, but better\n");
    arena.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    for _ in 0..2 {
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.status_of("1.2").as_str()), (0, "done"), "{said}");
    }
    let now = arena.git(&["rev-parse", "main"]).trim().to_owned();
    assert_eq!(arena.shown("1.2")["proof"]["commit"], now.as_str());
    assert_eq!(arena.git(&["show", "main:two.txt"]), "two, but better\n");
    arena.git(&["rm", "--quiet", "two.txt"]);
    arena.write("mine.txt", "mine\n");
    arena.git(&["add", "mine.txt"]);
    arena.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    arena.run(&[]);
    assert_gone(&arena, "1.2");
    ends_with(&arena, &["mine.txt", "one.txt", "two.txt"]);
}

/// The work came again in a commit of its own: who reverts the first one once more means that one.
#[test]
fn a_second_revert_of_the_first_commit_of_a_task_takes_back_its_second() {
    let arena = arena_with(json!({}));
    let script = "write two.txt two\nsh echo $SWARM_RUN > of-$SWARM_RUN.txt\ncommit feat: two\ncomplete";
    // The first commit is older than all that is proven in the end.
    arena.plan_in_phases(&[vec![task("1.2", &[], script), task("1.3", &["1.2"], &writes("three"))]]);
    assert_eq!(arena.run(&[]).0, 0);
    let first = arena.git(&["rev-parse", "main~1"]).trim().to_owned();
    arena.commit("mine.txt", "mine\n");
    arena.ok(&["task", "rollback", "1.2", "--cascade", "--yes"]);
    assert_eq!(arena.run(&[]).0, 0);
    assert!(has(&arena, "two.txt"));
    arena.git(&["revert", "--no-edit", &first]);
    assert!(!has(&arena, "two.txt"), "{:?}", on_trunk(&arena));
    for _ in 0..2 {
        let (_, said) = arena.run(&[]);
        assert_eq!(arena.status_of("1.2"), "gone", "{said}");
    }
    assert_eq!(arena.run(&["--retry"]).0, 0);
    assert!(has(&arena, "two.txt"), "{:?}", on_trunk(&arena));
    arena.assert_true_at_rest();
}

/// What a preview shows is what would happen, also where it would fail.
#[test]
fn a_rollback_that_would_conflict_says_so_before_it_is_tried() {
    let arena = two_done();
    arena.write("two.txt", "two\nand mine\n");
    arena.git(&["commit", "--quiet", "--all", "--message", "my two"]);
    let before = arena.git(&["for-each-ref"]);
    let out = arena.swarm(&["task", "rollback", "1.2", "--dry-run"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("conflicts with later work in two.txt") && said.contains("git revert"), "{said}");
    assert_eq!(arena.git(&["for-each-ref"]), before);
    ends_with(&arena, &BOTH);
}

#[test]
fn what_a_person_reverted_is_shown_as_gone_and_a_retry_brings_it_back() {
    let arena = two_done();
    arena.git(&["revert", "--no-edit", "HEAD"]);
    arena.run(&[]);
    assert_gone(&arena, "1.2");
    arena.assert_true();
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    ends_with(&arena, &BOTH);
}

#[test]
fn what_a_person_reset_trunk_behind_is_shown_as_gone_and_a_retry_brings_it_back() {
    let arena = two_done();
    arena.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    arena.run(&[]);
    assert_gone(&arena, "1.1");
    assert_gone(&arena, "1.2");
    arena.assert_true();
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    ends_with(&arena, &BOTH);
}

#[test]
fn a_trunk_that_is_reset_while_nobody_is_there_is_noticed_beside_unmerged_work() {
    let arena = two_done_and_one_half();
    arena.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    ends_with(&arena, &["one.txt", "rest.txt", "three.txt", "two.txt"]);
}

#[test]
fn a_revert_of_the_revert_is_done_again_without_a_word() {
    let arena = two_done();
    arena.git(&["revert", "--no-edit", "HEAD"]);
    arena.git(&["revert", "--no-edit", "HEAD"]);
    ends_with(&arena, &BOTH);
    assert_eq!(arena.starts("1.2"), 1, "nobody pays again");
}

#[test]
fn a_person_who_changes_what_a_task_wrote_takes_nothing_back() {
    let arena = two_done();
    arena.write("two.txt", "my own words\n");
    arena.git(&["commit", "--quiet", "--all", "--message", "person: two.txt"]);
    ends_with(&arena, &BOTH);
    assert_eq!(arena.git(&["show", "main:two.txt"]), "my own words\n");
}

#[test]
fn commits_made_after_a_worktree_was_handed_in_are_merged_too_or_said_to_be_left() {
    let arena = two_done_and_one_half();
    let worktree = arena.root.join(".swarm/worktrees/1.3").display().to_string();
    let commit = |name: &str| {
        std::fs::write(format!("{worktree}/{name}"), name).expect("a file");
        arena.git(&["-C", &worktree, "add", "--all"]);
        arena.git(&["-C", &worktree, "commit", "--quiet", "--message", &format!("person: {name}")]);
    };
    commit("before.txt");
    arena.ok(&["worktree", "merge", "1.3"]);
    commit("after.txt");
    arena.run(&[]);
    let told = format!("{} {}", arena.attention(), arena.shown("1.3"));
    assert!(has(&arena, "after.txt") || arena.attention().contains("1.3"), "nobody is told: {told}");
    assert!(has(&arena, "before.txt"), "{told}");
}

#[test]
fn a_rollback_of_one_task_behind_a_rebase_says_what_it_does_and_is_undone() {
    let arena = two_done();
    // Commits keep their tasks and get other names.
    let as_another = "git commit --quiet --amend --no-edit --author='P <p@e.x>'";
    arena.git(&["rebase", "--quiet", "--force-rebase", "--exec", as_another, "main~2"]);
    let said = arena.ok(&["rollback", "before-merge-1.2", "--dry-run"]);
    assert!(!said.contains("brought back"), "what is there need not come back: {said}");
    arena.ok(&["rollback", "before-merge-1.2", "--yes"]);
    assert_eq!((has(&arena, "one.txt"), has(&arena, "two.txt")), (true, false), "{said}");
    // Time passes, and trunk is looked at.
    arena.ok(&["task", "block", "1.2", "not now"]);
    arena.run(&[]);
    arena.ok(&["undo", "--yes"]);
    arena.ok(&["undo", "--yes"]);
    assert_eq!((has(&arena, "one.txt"), has(&arena, "two.txt")), (true, true));
    ends_with(&arena, &BOTH);
}

#[test]
fn more_work_in_a_worktree_that_was_made_anew_is_merged() {
    let arena = two_done();
    arena.ok(&["worktree", "create", "1.2"]);
    let worktree = arena.root.join(".swarm/worktrees/1.2").display().to_string();
    std::fs::write(format!("{worktree}/more.txt"), "more").expect("a file");
    arena.git(&["-C", &worktree, "add", "--all"]);
    arena.git(&["-C", &worktree, "commit", "--quiet", "--message", "person: more"]);
    arena.ok(&["worktree", "merge", "1.2"]);
    ends_with(&arena, &["more.txt", "one.txt", "two.txt"]);
}

/// A task whose agent has committed something and waits for an answer; nobody is there any more.
fn asks_a_question() -> (Arena, String) {
    let arena = arena_with(json!({}));
    let script = "write one.txt one\nwrite more.txt more\ncommit feat: one\nblocked which one?";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    arena.run(&[]);
    let worktree = arena.root.join(".swarm/worktrees/1.1").display().to_string();
    (arena, worktree)
}

#[test]
fn a_commit_of_an_agent_that_a_person_amends_in_its_worktree_is_kept() {
    for end in [&["worktree", "merge", "1.1"][..], &["task", "cancel", "1.1"]] {
        let (arena, worktree) = asks_a_question();
        let of_agent = arena.git(&["rev-parse", "swarm/1.1"]).trim().to_owned();
        arena.git(&["-C", &worktree, "commit", "--quiet", "--amend", "--message", "person: better"]);
        arena.ok(end);
        arena.run(&[]);
        assert!(!std::path::Path::new(&worktree).exists(), "{end:?}: {}", arena.attention());
        let kept = arena.git(&["for-each-ref", "--contains", &of_agent]);
        assert!(!kept.is_empty(), "{end:?}: the agent's commit {of_agent} is in no ref");
        assert!(arena.ok(&["restore", "--all"]).contains("1.1"), "{end:?}");
    }
}

#[test]
fn a_worktree_that_is_not_on_its_branch_is_not_merged_and_that_is_said() {
    let (arena, worktree) = asks_a_question();
    let refused = |words: &[&str]| {
        let out = arena.swarm(&["worktree", "merge", "1.1"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && words.iter().all(|word| said.contains(word)), "{said}");
    };
    arena.git(&["-C", &worktree, "checkout", "--quiet", "--detach"]);
    std::fs::write(format!("{worktree}/mine.txt"), "mine").expect("a file");
    arena.git(&["-C", &worktree, "add", "--all"]);
    arena.git(&["-C", &worktree, "commit", "--quiet", "--message", "person: mine"]);
    let there = format!("git -C {worktree} checkout swarm/1.1");
    refused(&["not on swarm/1.1", &there, "merge -"]);
    // What it says helps.
    arena.git(&["-C", &worktree, "checkout", "--quiet", "swarm/1.1"]);
    arena.git(&["-C", &worktree, "merge", "--quiet", "-"]);
    arena.git(&[
        "-c",
        "sequence.editor=sed -i 1s/pick/edit/",
        "-C",
        &worktree,
        "rebase",
        "--quiet",
        "-i",
        "HEAD~1",
    ]);
    refused(&["in the middle of a rebase", "rebase --continue"]);
    arena.git(&["-C", &worktree, "rebase", "--continue"]);
    arena.ok(&["worktree", "merge", "1.1"]);
    ends_with(&arena, &["mine.txt", "more.txt", "one.txt"]);
}

/// Trunk as after `git pull --rebase`: somebody else's commit below, ours rewritten on top of it.
fn pulled_with_rebase(arena: &Arena) {
    arena.git(&["checkout", "--quiet", "-b", "theirs", "main~2"]);
    arena.commit("theirs.txt", "theirs\n");
    arena.git(&["checkout", "--quiet", "main"]);
    arena.git(&["rebase", "--quiet", "theirs"]);
}

/// Of two tasks the second builds on the first one's file, though ids say nothing of their order.
fn one_on_the_other() -> Arena {
    let arena = arena_with(json!({}));
    let second = "append one.txt two\ncommit feat: two\ncomplete";
    arena.plan_in_phases(&[vec![task("1.9", &[], &writes("one")), task("1.1", &["1.9"], second)]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena
}

#[test]
fn rewritten_work_that_builds_on_rewritten_work_is_taken_back_newest_first() {
    for take_back in [
        &["abort", "--yes"][..],
        &["rollback", "--session", "--yes"],
        &["task", "rollback", "1.9", "--cascade", "--yes"],
    ] {
        let arena = one_on_the_other();
        pulled_with_rebase(&arena);
        arena.ok(take_back);
        assert!(
            !has(&arena, "one.txt") && has(&arena, "theirs.txt"),
            "{take_back:?}: {:?}",
            on_trunk(&arena)
        );
        assert_eq!(arena.run(&["--retry"]).0, 0);
        assert_eq!(arena.git(&["show", "main:one.txt"]), "one\ntwo\n", "{take_back:?}");
        arena.assert_true_at_rest();
    }
}

/// Only the newest was rewritten: it goes before what it builds on.
#[test]
fn amended_work_is_taken_back_before_what_it_builds_on() {
    let arena = one_on_the_other();
    arena.git(&["commit", "--quiet", "--amend", "--message", "two, in better words"]);
    arena.ok(&["task", "rollback", "1.9", "--cascade", "--yes"]);
    assert!(!has(&arena, "one.txt"), "{:?}", on_trunk(&arena));
    assert_eq!(arena.run(&[]).0, 0);
    assert_eq!(arena.git(&["show", "main:one.txt"]), "one\ntwo\n");
    arena.assert_true_at_rest();
}

#[test]
fn amended_work_that_was_taken_back_stays_taken_back_when_everything_is() {
    for first in [&["rollback", "before-merge-1.2", "--yes"][..], &["task", "rollback", "1.2", "--yes"]] {
        for rebased in [false, true] {
            let arena = two_done();
            match rebased {
                true => pulled_with_rebase(&arena),
                false => {
                    drop(arena.git(&["commit", "--quiet", "--amend", "--message", "two, in better words"]))
                }
            }
            arena.ok(first);
            arena.ok(&["rollback", "--session", "--yes"]);
            let left = on_trunk(&arena);
            assert!(!has(&arena, "one.txt") && !has(&arena, "two.txt"), "{first:?} {rebased}: {left:?}");
            assert_eq!(arena.run(&[]).0, 0);
            assert!(has(&arena, "one.txt") && has(&arena, "two.txt"));
            arena.assert_true_at_rest();
        }
    }
}

#[test]
fn squashed_work_stands_in_the_squashed_commit_and_its_diff_is_its_own() {
    let arena = two_done();
    arena.git(&["reset", "--quiet", "--soft", "HEAD~2"]);
    arena.git(&["commit", "--quiet", "--message", "both in one"]);
    let squashed = arena.git(&["rev-parse", "main"]).trim().to_owned();
    arena.commit("mine.txt", "mine\n");
    for _ in 0..2 {
        assert_eq!(arena.shown("1.2")["proof"]["commit"], squashed.as_str());
        let diff = arena.ok(&["task", "diff", "1.2"]);
        assert!(
            diff.contains("two.txt") && !diff.contains("one.txt") && !diff.contains("mine.txt"),
            "{diff}"
        );
        arena.run(&[]);
    }
}

#[test]
fn more_work_of_a_done_task_is_shown_without_what_came_between() {
    let arena = two_done();
    arena.commit("mine.txt", "mine\n");
    arena.ok(&["worktree", "create", "1.1"]);
    let worktree = arena.root.join(".swarm/worktrees/1.1");
    std::fs::write(worktree.join("more.txt"), "more\n").expect("a file");
    let at = worktree.to_str().expect("text");
    arena.git(&["-C", at, "add", "more.txt"]);
    arena.git(&["-C", at, "commit", "--quiet", "--message", "more"]);
    arena.ok(&["worktree", "merge", "1.1"]);
    arena.run(&[]);
    let diff = arena.ok(&["task", "diff", "1.1", "--stat"]);
    assert!(diff.contains("one.txt") && diff.contains("more.txt"), "{diff}");
    assert!(!diff.contains("two.txt") && !diff.contains("mine.txt"), "{diff}");
}
