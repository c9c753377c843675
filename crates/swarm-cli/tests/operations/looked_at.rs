//! Commands that are refused where nobody works and nothing is handed in: where they would be carried out, a look at
//! them changes nothing either.

use std::process::Command;

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::dry_runs::everything;
use crate::ground::{arena_with, task};

/// Committed by a person in the worktree of a task that nobody works on.
fn commit_in_worktree(arena: &Arena, id: &str) {
    let worktree = arena.root.join(".swarm/worktrees").join(id);
    std::fs::write(worktree.join("mine.txt"), "mine\n").expect("a file");
    for args in [&["add", "mine.txt"][..], &["commit", "--quiet", "--message", "feat: mine"]] {
        let done = Command::new("git").arg("-C").arg(&worktree).args(args).status().expect("git runs");
        assert!(done.success(), "git {args:?}");
    }
}

#[test]
fn a_look_at_work_that_could_be_handed_in_and_at_a_phase_that_could_be_completed_changes_no_byte() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")], vec![]]);
    arena.ok(&["worktree", "create", "1.1"]);
    commit_in_worktree(&arena, "1.1");
    for words in [&["worktree", "merge", "1.1"][..], &["phase", "complete", "2"]] {
        let look = [words, &["--dry-run"]].concat();
        let (before, refs) = (everything(&arena.root), arena.git(&["for-each-ref"]));
        let said = arena.ok(&look);
        assert!(said.contains("Preview of "), "swarm {look:?}: {said}");
        let after = everything(&arena.root);
        let differs: Vec<&String> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        assert!(differs.is_empty(), "swarm {look:?} changed {differs:?}");
        assert_eq!(arena.git(&["for-each-ref"]), refs, "swarm {look:?} moved a ref");
        arena.ok(words);
        assert_ne!(everything(&arena.root), before, "swarm {words:?} does something");
    }
}

#[test]
fn a_look_at_a_stop_stops_nobody() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "print at work\nsleep 600000")]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    arena.ok(&["stop", "--dry-run"]);
    let agents = arena.json(&["status"])["agents"].clone();
    assert_eq!(agents.as_array().map(Vec::len), Some(1), "{agents}");
    // Refused where no swarm runs any more.
    arena.ok(&["stop"]);
    run.end();
}
