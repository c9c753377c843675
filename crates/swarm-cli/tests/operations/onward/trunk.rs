//! Trunk belongs to the plan, wherever a person goes meanwhile.

use serde_json::json;

use super::{ends_with, half, two_done, two_done_and_one_half, writes};
use crate::arena::oracle::Known;
use crate::arena::wait_for;
use crate::ground::{arena_with, task};

const ALL: [&str; 4] = ["one.txt", "rest.txt", "three.txt", "two.txt"];

#[test]
fn a_person_on_another_branch_and_a_killed_coordinator_do_not_move_trunk() {
    let arena = arena_with(json!({}));
    let mut run = half(&arena);
    arena.git(&["checkout", "--quiet", "-b", "other"]);
    let other = arena.git(&["rev-parse", "other"]);
    run.kill_9();
    ends_with(&arena, &ALL);
    assert_eq!(arena.git(&["rev-parse", "other"]), other, "the person's branch is the person's");
}

#[test]
fn a_stop_a_checkout_and_a_run_do_not_move_trunk() {
    let arena = two_done_and_one_half();
    arena.git(&["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    let other = arena.git(&["rev-parse", "other"]);
    ends_with(&arena, &ALL);
    assert_eq!(arena.git(&["rev-parse", "other"]), other, "the person's branch is the person's");
}

#[test]
fn a_person_on_another_branch_can_roll_back_and_go_on() {
    let arena = two_done_and_one_half();
    arena.git(&["checkout", "--quiet", "-b", "other"]);
    arena.ok(&["rollback", "before-merge-1.1", "--yes"]);
    ends_with(&arena, &ALL);
}

#[test]
fn a_trunk_that_was_named_once_stays_the_trunk_of_the_plan() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], &writes("two"))]]);
    let mut run = arena.start(&["--trunk", "dev"]);
    run.until("1.1      on dev");
    run.kill_9();
    arena.assert_true_at_rest_but(&Known { trunk: "dev".into(), ..Known::default() });
    arena.assert_all_done();
    let tree = arena.git(&["ls-tree", "-r", "--name-only", "dev"]);
    assert!(tree.contains("one.txt") && tree.contains("two.txt"), "{tree}");
    let main = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(main.lines().collect::<Vec<_>>(), ["README.md"]);
}

#[test]
fn from_a_linked_worktree_trunk_is_the_branch_that_is_checked_out_there() {
    let arena = arena_with(json!({}));
    let linked = arena.path("linked").display().to_string();
    arena.git(&["worktree", "add", "--quiet", "-b", "feature", &linked]);
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one"))]]);
    let mut swarm = std::process::Command::new(env!("CARGO_BIN_EXE_swarm"));
    swarm.args(["-C", &linked, "run", "--agent", "script", "--mode", "autopilot", "--review", "none"]);
    let out = swarm.env("HOME", arena.path("")).output().expect("swarm runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(arena.git(&["ls-tree", "--name-only", "feature"]).contains("one.txt"), "{said}");
    assert!(!arena.git(&["ls-tree", "--name-only", "main"]).contains("one.txt"), "{said}");
    assert!(std::path::Path::new(&linked).join("one.txt").exists(), "the checkout is at its branch");
    arena.assert_true_at_rest_but(&Known { trunk: "feature".into(), ..Known::default() });
}

#[test]
fn a_checkout_between_two_merges_does_not_move_trunk() {
    let arena = arena_with(json!({}));
    let run = half(&arena);
    arena.git(&["checkout", "--quiet", "-b", "other"]);
    let coordinator = run.coordinator();
    crate::arena::send("KILL", coordinator);
    wait_for("it is dead", || crate::arena::is_gone(coordinator));
    std::fs::write(arena.path("go"), "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    ends_with(&arena, &ALL);
}

/// The plan comes through a pipe, so that the coordinator waits before it has recorded anything.
#[test]
fn trunk_is_the_branch_that_the_person_began_on_although_the_coordinator_was_not_there_yet() {
    let arena = arena_with(json!({}));
    let pipe = arena.path("plan.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let run = arena.start(&["--plan", pipe.to_str().expect("text")]);
    let mut plan = std::fs::File::options().write(true).open(&pipe).expect("the coordinator reads");
    arena.git(&["checkout", "--quiet", "-b", "other"]);
    let tasks = [task("1.1", &[], &writes("one"))];
    let text = json!({ "goal": "prove it", "phases": [{ "id": 1, "name": "all", "tasks": tasks }] });
    std::io::Write::write_all(&mut plan, text.to_string().as_bytes()).expect("it is read");
    drop(plan);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    ends_with(&arena, &["one.txt"]);
}

/// The plan would change and git would not.
#[test]
fn nothing_is_taken_back_from_a_trunk_that_is_gone() {
    let arena = two_done();
    let tip = arena.git(&["rev-parse", "main"]).trim().to_owned();
    arena.git(&["checkout", "--quiet", "--detach"]);
    arena.git(&["branch", "--quiet", "-D", "main"]);
    for taken_back in
        [&["task", "rollback", "1.2", "--yes"][..], &["rollback", "--session", "--yes"], &["abort", "--yes"]]
    {
        let out = arena.swarm(taken_back);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{taken_back:?}: {said}");
        assert!(said.contains("main is gone"), "{taken_back:?}: {said}");
    }
    arena.git(&["branch", "main", &tip]);
    arena.git(&["checkout", "--quiet", "main"]);
    ends_with(&arena, &["one.txt", "two.txt"]);
}
