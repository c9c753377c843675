//! What is approved and then changed, before trunk has it: by a person in the worktree, in an agent's name, by a rebase.

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, has, task};

const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";

fn submitted(arena: &Arena) -> Running {
    let mut reviewed = task("1.1", &[], GOOD);
    reviewed["review"] = json!("human");
    arena.plan_in_phases(&[vec![reviewed]]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    run
}

/// Approved while nobody coordinates: it waits for the next run.
fn approved() -> Arena {
    approved_with(json!({}))
}

fn approved_with(config: serde_json::Value) -> Arena {
    let arena = arena_with(config);
    let run = submitted(&arena);
    arena.ok(&["stop"]);
    run.end();
    arena.ok(&["review", "approve", "1.1"]);
    assert_eq!(arena.status_of("1.1"), "merging");
    arena
}

impl Arena {
    fn in_worktree(&self, args: &[&str]) -> String {
        let place = self.root.join(".swarm/worktrees/1.1");
        self.git(&[&["-C", place.to_str().expect("text")], args].concat())
    }

    fn commit_in_worktree(&self, name: &str, by: &[&str]) {
        self.write(&format!(".swarm/worktrees/1.1/{name}"), "late\n");
        self.in_worktree(&["add", name]);
        self.in_worktree(&[by, &["commit", "--quiet", "--message", &format!("late: {name}")]].concat());
    }

    fn names_on_main(&self) -> Vec<String> {
        self.git(&["ls-tree", "--name-only", "main"]).lines().map(str::to_owned).collect()
    }

    fn round(&self) -> serde_json::Value {
        self.json(&["review", "list"])[0]["round"].clone()
    }
}

#[test]
fn what_a_person_commits_after_the_approval_is_reviewed_before_anything_is_merged() {
    let arena = approved();
    let before = arena.git(&["rev-parse", "main"]);
    arena.commit_in_worktree("late.txt", &[]);
    let mut run = arena.start(&[]);
    run.until("its branch was changed after its approval");
    run.until("swarm review approve 1.1");
    assert_eq!((arena.git(&["rev-parse", "main"]), arena.status_of("1.1")), (before, "review".into()));
    // No round was lost, and a person reads why they are asked again and what is new.
    assert_eq!(arena.round(), json!(1));
    has(&arena.attention(), &["its branch was changed after", "had been approved"]);
    let shown = arena.ok(&["review", "show", "1.1"]);
    has(
        &shown,
        &["approved, void)", "its branch was changed afterwards", "Changes since the last submission"],
    );
    let since = shown.split("Changes since the last submission").nth(1).unwrap_or_default();
    assert!(since.contains("late.txt") && !since.contains("a.txt |"), "{shown}");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.names_on_main(), ["README.md", "a.txt", "late.txt"]);
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn what_is_committed_while_the_merge_is_verified_keeps_it_off_trunk() {
    let wait = "until git rev-parse -q --verify refs/tags/go; do sleep 0.1; done";
    let arena = arena_with(json!({ "verify": { "commands": [wait] } }));
    let mut run = submitted(&arena);
    let before = arena.git(&["rev-parse", "main"]);
    arena.ok(&["review", "approve", "1.1"]);
    wait_for("it is verified", || arena.shown("1.1")["stage"].to_string().contains("verifying"));
    // As if it were the agent, of which something had been left.
    arena.commit_in_worktree("late.txt", &["-c", "user.name=ed-001", "-c", "user.email=ed-001@swarm"]);
    arena.git(&["tag", "go"]);
    run.until("its branch was changed after its approval");
    run.until("swarm review approve 1.1");
    assert_eq!((arena.git(&["rev-parse", "main"]), arena.round()), (before, json!(1)));
    arena.ok(&["review", "needs-changes", "1.1", "without late.txt"]);
    run.until("swarm review approve 1.1");
    assert_eq!(arena.round(), json!(2));
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn a_branch_that_was_rebased_after_its_approval_is_reviewed_again_and_lands_once() {
    let arena = approved();
    arena.commit("base.txt", "base");
    arena.in_worktree(&["rebase", "--quiet", "main"]);
    let mut run = arena.start(&[]);
    run.until("its branch was changed after its approval");
    run.until("swarm review approve 1.1");
    let diff = arena.ok(&["task", "diff", "1.1"]);
    assert!(diff.contains("a.txt") && !diff.contains("base.txt"), "{diff}");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!((arena.commits("main", "feat: a"), arena.commits("main", "person: base.txt")), (1, 1));
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

/// What the branch was put upon is trunk's, and what a person takes out of trunk then does not come back with the task.
#[test]
fn what_a_rebase_took_up_from_trunk_is_not_merged_with_the_task() {
    for strategy in ["commits", "squash", "merge"] {
        let arena = approved_with(json!({ "merge": { "strategy": strategy } }));
        arena.commit("base.txt", "base");
        arena.in_worktree(&["rebase", "--quiet", "main"]);
        arena.git(&["revert", "--no-edit", "HEAD"]);
        let mut run = arena.start(&[]);
        run.until("swarm review approve 1.1");
        arena.ok(&["review", "approve", "1.1"]);
        let (code, said) = run.end();
        assert_eq!(code, 0, "{strategy}: {said}");
        assert_eq!(arena.names_on_main(), ["README.md", "a.txt"], "{strategy}");
        arena.assert_proven("1.1", "main");
    }
}

/// The branch stands where it stood, and trunk has dropped what is below it: that is not the task's either.
#[test]
fn what_trunk_has_dropped_below_a_branch_is_not_merged_with_the_task() {
    let arena = arena_with(json!({}));
    arena.commit("base.txt", "base");
    let run = submitted(&arena);
    arena.ok(&["stop"]);
    run.end();
    arena.ok(&["review", "approve", "1.1"]);
    arena.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    arena.write(".swarm/worktrees/1.1/a.txt", "other\n");
    arena.in_worktree(&["commit", "--quiet", "--all", "--amend", "--message", "feat: other"]);
    let mut run = arena.start(&[]);
    run.until("its branch was changed after its approval");
    run.until("swarm review approve 1.1");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.names_on_main(), ["README.md", "a.txt"]);
    assert_eq!(arena.git(&["show", "main:a.txt"]), "other\n");
    arena.assert_proven("1.1", "main");
    // A person has written something else than the script.
    arena.is_judged();
}

#[test]
fn an_approval_that_a_change_of_the_branch_has_made_void_is_not_undone() {
    let arena = approved();
    arena.commit_in_worktree("late.txt", &[]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    let out = arena.swarm(&["undo", "--set-aside", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    has(&said, &["the approval of task 1.1 is void already", "swarm review show 1.1"]);
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.names_on_main(), ["README.md", "a.txt", "late.txt"]);
}

#[test]
fn other_words_for_the_same_files_keep_the_approval_and_what_was_approved_is_merged() {
    let arena = approved();
    arena.in_worktree(&["commit", "--quiet", "--amend", "--message", "feat: other words"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("changed after its approval"), "{said}");
    assert_eq!((arena.commits("main", "feat: a"), arena.commits("main", "feat: other words")), (1, 0));
    arena.assert_proven("1.1", "main");
}

#[test]
fn what_is_not_committed_is_no_part_of_the_approval_and_is_kept() {
    let arena = approved();
    arena.write(".swarm/worktrees/1.1/a.txt", "not committed\n");
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.git(&["show", "main:a.txt"]), "a\n");
    has(&arena.ok(&["restore"]), &["1.1"]);
    let rescued = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/rescue/1.1"]);
    assert_eq!(arena.git(&["show", &format!("{}:a.txt", rescued.trim())]), "not committed\n");
    arena.assert_proven("1.1", "main");
}

#[test]
fn a_person_who_wants_the_rest_left_out_is_not_asked_again_about_that_but_about_more() {
    let arena = arena_with(json!({}));
    let run = submitted(&arena);
    arena.ok(&["stop"]);
    run.end();
    let tip = arena.in_worktree(&["rev-parse", "HEAD"]);
    arena.commit_in_worktree("aside.txt", &[]);
    arena.ok(&["review", "approve", "1.1", "--commit", tip.trim()]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.names_on_main(), ["README.md", "a.txt"]);
    assert!(arena.root.join(".swarm/worktrees/1.1/aside.txt").is_file(), "the rest is kept: {said}");
    arena.assert_proven("1.1", "main");
}

#[test]
fn an_approval_outlives_a_coordinator_that_is_killed_before_the_merge() {
    let wait = "until git rev-parse -q --verify refs/tags/go; do sleep 0.1; done";
    let arena = arena_with(json!({ "verify": { "commands": [wait] } }));
    let mut run = submitted(&arena);
    arena.ok(&["review", "approve", "1.1"]);
    wait_for("it is verified", || arena.shown("1.1")["stage"].to_string().contains("verifying"));
    run.kill_9();
    drop(run);
    arena.git(&["tag", "go"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("swarm review approve"), "nobody is asked again: {said}");
    assert_eq!(arena.commits("main", "feat: a"), 1);
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}
