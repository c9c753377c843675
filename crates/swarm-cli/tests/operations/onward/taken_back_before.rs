//! Operations over work that a person has taken back already, with git's own revert or without a word.

use super::{ends_with, on_trunk, two_done};
use crate::arena::Arena;

const BOTH: [&str; 2] = ["one.txt", "two.txt"];

fn tree(arena: &Arena, commit: &str) -> String {
    arena.git(&["rev-parse", &format!("{commit}^{{tree}}")])
}

/// Both ways back to where the session began.
const BACK: [&[&str]; 2] = [&["rollback", "before-merge-1.1"], &["abort"]];

/// The command leaves trunk as it was when the session began, and its undo brings exactly what was there before.
#[track_caller]
fn goes_back_and_forth(arena: &Arena, command: &[&str], start: &str) {
    let before = tree(arena, "main");
    let preview = arena.ok(&[command, &["--dry-run"][..]].concat());
    arena.ok(&[command, &["--yes"][..]].concat());
    assert_eq!(tree(arena, "main"), start, "{command:?}: {:?}: {preview}", on_trunk(arena));
    arena.ok(&["undo", "--yes"]);
    assert_eq!(tree(arena, "main"), before, "{command:?}: {:?}", on_trunk(arena));
}

#[test]
fn what_a_person_reverted_is_not_reverted_again() {
    for command in BACK {
        let arena = two_done();
        let start = tree(&arena, "main~2");
        arena.git(&["revert", "--no-edit", "HEAD~1"]);
        let said = arena.ok(&["rollback", "before-merge-1.1", "--dry-run"]);
        assert!(said.contains("taken back before: ") && said.contains("feat: one"), "{said}");
        assert!(
            !said.lines().any(|line| line.contains("reverted: ") && line.contains("feat: one")),
            "{said}"
        );
        goes_back_and_forth(&arena, command, &start);
        assert_eq!(arena.run(&["--retry"]).0, 0);
        ends_with(&arena, &BOTH);
    }
}

/// Trunk as after `git merge main` in another branch and a fast-forward to that, or after a pull in another clone: the first
/// parent of the merge is not what trunk was before.
#[test]
fn work_that_trunk_has_by_a_persons_merge_is_taken_back_and_the_persons_stays() {
    for command in [BACK[0], BACK[1], &["task", "rollback", "1.1", "--cascade"]] {
        let arena = two_done();
        arena.git(&["checkout", "--quiet", "-b", "mine", "main~2"]);
        arena.commit("mine.txt", "mine\n");
        arena.git(&["merge", "--quiet", "-m", "mine: main merged", "main"]);
        arena.git(&["checkout", "--quiet", "main"]);
        arena.git(&["merge", "--quiet", "--ff-only", "mine"]);
        arena.ok(&[command, &["--yes"][..]].concat());
        assert_eq!(on_trunk(&arena), ["README.md", "mine.txt"], "{command:?}");
        arena.ok(&["undo", "--yes"]);
        assert_eq!(on_trunk(&arena), ["README.md", "mine.txt", "one.txt", "two.txt"], "{command:?}");
    }
}

/// Reverted a second time it would be in conflict with what the person wrote instead.
#[test]
fn what_a_person_wrote_instead_of_reverted_work_stays() {
    for command in BACK {
        let arena = two_done();
        arena.git(&["revert", "--no-edit", "HEAD~1"]);
        arena.commit("one.txt", "my own\n");
        arena.ok(&[command, &["--yes"][..]].concat());
        assert_eq!(on_trunk(&arena), ["README.md", "one.txt"], "{command:?}");
        assert_eq!(arena.git(&["show", "main:one.txt"]), "my own\n");
        arena.ok(&["undo", "--yes"]);
        assert_eq!(on_trunk(&arena), ["README.md", "one.txt", "two.txt"], "{command:?}");
        assert_eq!(arena.git(&["show", "main:one.txt"]), "my own\n");
    }
}

/// No revert in git's words: it is the look at trunk that found it gone.
#[test]
fn what_a_person_deleted_is_taken_back_already() {
    let arena = two_done();
    let start = tree(&arena, "main~2");
    arena.git(&["rm", "--quiet", "one.txt"]);
    arena.git(&["commit", "--quiet", "--message", "person: no longer wanted"]);
    arena.run(&[]);
    assert_eq!(arena.status_of("1.1"), "gone");
    let said = arena.ok(&["rollback", "before-merge-1.1", "--dry-run"]);
    assert!(said.contains("taken back before: ") && said.contains("feat: one"), "{said}");
    goes_back_and_forth(&arena, BACK[0], &start);
}

#[test]
fn what_a_person_brought_back_by_reverting_the_revert_is_taken_out() {
    for command in BACK {
        let arena = two_done();
        let start = tree(&arena, "main~2");
        arena.git(&["revert", "--no-edit", "HEAD~1"]);
        arena.git(&["revert", "--no-edit", "HEAD"]);
        goes_back_and_forth(&arena, command, &start);
        ends_with(&arena, &BOTH);
    }
}

/// A rollback of the task, its undo upon a person's commit, and then the person's own revert: with all of the swarm's
/// commits taken back one by one, the work would be on trunk again.
#[test]
fn reverts_of_the_swarm_that_a_person_went_on_from_do_not_bring_work_back() {
    let arena = two_done();
    arena.ok(&["task", "rollback", "1.2", "--yes"]);
    arena.commit("mine.txt", "mine\n");
    arena.ok(&["undo", "--yes"]);
    assert_eq!(on_trunk(&arena), ["README.md", "mine.txt", "one.txt", "two.txt"]);
    arena.git(&["revert", "--no-edit", "HEAD~3"]);
    assert_eq!(on_trunk(&arena), ["README.md", "mine.txt", "one.txt"]);
    arena.ok(&["rollback", "before-merge-1.1", "--yes"]);
    assert_eq!(on_trunk(&arena), ["README.md", "mine.txt"]);
}

#[test]
fn a_task_that_a_person_reverted_is_rolled_back_without_touching_trunk() {
    let arena = two_done();
    arena.git(&["revert", "--no-edit", "HEAD"]);
    arena.commit("two.txt", "my own\n");
    let tip = arena.git(&["rev-parse", "main"]);
    let said = arena.ok(&["task", "rollback", "1.2", "--yes"]);
    assert_eq!(arena.git(&["rev-parse", "main"]), tip, "{said}");
    assert_ne!(arena.status_of("1.2"), "done");
}
