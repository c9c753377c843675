//! Rollbacks, aborts and their undoing.

use std::process::Command;

use rustix::process::{Pid, Signal};
use serde_json::json;

use super::{ends_with, on_trunk, two_done, two_done_and_one_half, writes};
use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

const BOTH: [&str; 2] = ["one.txt", "two.txt"];
const ALL: [&str; 4] = ["one.txt", "rest.txt", "three.txt", "two.txt"];

fn check(arena: &Arena, commands: &[&[&str]], files: &[&str]) {
    for command in commands {
        arena.ok(&[command, &["--yes"][..]].concat());
    }
    ends_with(arena, files);
}

#[test]
fn after_a_rollback_to_a_light_checkpoint_everything_is_done_again() {
    check(&two_done(), &[&["rollback", "before-merge-1.1"]], &BOTH);
}

#[test]
fn after_a_rollback_of_the_last_task_alone_it_is_done_again() {
    check(&two_done(), &[&["rollback", "before-merge-1.2"]], &BOTH);
}

#[test]
fn after_a_rollback_to_a_full_checkpoint_everything_is_done_again() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], &writes("two"))]]);
    arena.ok(&["checkpoint", "create", "mine"]);
    assert_eq!(arena.run(&[]).0, 0);
    check(&arena, &[&["rollback", "mine"]], &BOTH);
}

#[test]
fn after_a_rollback_behind_a_persons_commit_everything_is_done_again_and_the_commit_stays() {
    let arena = two_done();
    arena.commit("mine.txt", "mine");
    check(&arena, &[&["rollback", "before-merge-1.1"]], &["mine.txt", "one.txt", "two.txt"]);
}

#[test]
fn after_a_rollback_of_what_a_remote_has_everything_is_done_again() {
    let arena = two_done();
    let bare = arena.path("remote.git");
    let made = Command::new("git").args(["init", "--quiet", "--bare"]).arg(&bare).status();
    assert!(made.expect("git runs").success());
    arena.git(&["remote", "add", "origin", bare.to_str().expect("text")]);
    arena.git(&["push", "--quiet", "origin", "main"]);
    check(&arena, &[&["rollback", "before-merge-1.1"]], &BOTH);
}

#[test]
fn after_a_rollback_a_second_attempt_that_adds_a_file_brings_the_first_file_too() {
    let arena = arena_with(json!({}));
    let script = "write one.txt one\non-attempt 2: write more.txt more\ncommit feat: one\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    assert_eq!(arena.run(&[]).0, 0);
    check(&arena, &[&["rollback", "before-merge-1.1"]], &["more.txt", "one.txt"]);
}

#[test]
fn an_undone_session_rollback_loses_no_unmerged_commit() {
    check(&two_done_and_one_half(), &[&["rollback", "--session"], &["undo"]], &ALL);
}

#[test]
fn an_undone_abort_loses_no_unmerged_commit() {
    check(&two_done_and_one_half(), &[&["abort"], &["undo"]], &ALL);
}

#[test]
fn an_abort_that_is_undone_after_a_rollback_to_the_start_loses_no_unmerged_commit() {
    let arena = arena_with(json!({}));
    let script = "write one.txt one\ncommit feat: one\non-attempt 1: print half way\non-attempt 1: sleep 600000\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let run = arena.start(&[]);
    wait_for("half of it is done", || arena.printed().contains("half way"));
    arena.ok(&["stop"]);
    run.end();
    arena.ok(&["abort", "--yes"]);
    let abort = arena.json(&["op", "log", "-n", "1"])[0]["id"].as_str().expect("an id").to_owned();
    check(&arena, &[&["rollback", "--session"], &["undo", &abort]], &["one.txt"]);
}

#[test]
fn an_undone_rollback_to_a_light_checkpoint_loses_no_unmerged_commit() {
    check(&two_done_and_one_half(), &[&["rollback", "before-merge-1.2"], &["undo"]], &ALL);
}

#[test]
fn an_undone_rollback_of_an_unmerged_task_loses_none_of_its_commits() {
    check(&two_done_and_one_half(), &[&["task", "rollback", "1.3"], &["undo"]], &ALL);
}

#[test]
fn an_undone_and_redone_rollback_is_a_rollback() {
    check(&two_done_and_one_half(), &[&["rollback", "before-merge-1.1"], &["undo"], &["redo"]], &ALL);
}

#[test]
fn an_aborted_session_with_unmerged_work_is_tried_again_to_its_end() {
    check(&two_done_and_one_half(), &[&["abort"]], &ALL);
}

#[test]
fn a_task_rolled_back_with_all_that_builds_on_it_is_done_again_with_them() {
    check(&two_done_and_one_half(), &[&["task", "rollback", "1.1", "--cascade"]], &ALL);
}

#[test]
fn an_abort_leaves_what_a_person_rolled_back_between_two_sessions_rolled_back() {
    let arena = two_done();
    arena.ok(&["task", "rollback", "1.2", "--yes"]);
    arena.ok(&["task", "block", "1.2", "not now"]);
    assert!(!on_trunk(&arena).contains(&"two.txt".to_owned()));
    let script = format!("```script\n{}\n```", writes("three"));
    arena.ok(&["task", "add", "Three", "--id", "1.3", "--phase", "1", "--description", &script]);
    arena.run(&[]);
    assert_eq!(arena.status_of("1.3"), "done");
    arena.ok(&["abort", "--yes"]);
    assert_ne!(arena.status_of("1.2"), "done");
    assert!(!on_trunk(&arena).contains(&"two.txt".to_owned()), "nobody asked for it: {:?}", on_trunk(&arena));
    ends_with(&arena, &["one.txt", "three.txt", "two.txt"]);
}

#[test]
fn a_split_task_that_is_rolled_back_takes_its_parts_along() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], &writes("two"))]]);
    let parts = arena.path("parts.json");
    let of = |id: &str, name: &str| task(id, &[], &writes(name));
    std::fs::write(&parts, json!([of("1.1-1", "first"), of("1.1-2", "second")]).to_string()).expect("a file");
    arena.ok(&["task", "split", "1.1", parts.to_str().expect("text")]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.ok(&["task", "rollback", "1.1", "--cascade", "--yes"]);
    for id in ["1.1", "1.1-1", "1.1-2"] {
        assert_ne!(arena.status_of(id), "done", "{id}: {:?}", on_trunk(&arena));
    }
    ends_with(&arena, &["first.txt", "second.txt", "two.txt"]);
}

#[test]
fn the_same_plan_file_saved_again_leaves_the_parts_of_a_split_task_alone() {
    let arena = arena_with(json!({}));
    let file = arena.path("plan.md");
    let script = writes("one").replace('\n', "\n  ");
    std::fs::write(&file, format!("# Goal\n- [ ] 1.1 One\n  ```script\n  {script}\n  ```\n"))
        .expect("a file");
    let file = file.to_str().expect("text");
    arena.ok(&["plan", "save", file]);
    let parts = arena.path("parts.json");
    let of = |id: &str, name: &str| task(id, &[], &writes(name));
    std::fs::write(&parts, json!([of("1.1-1", "first"), of("1.1-2", "second")]).to_string()).expect("a file");
    arena.ok(&["task", "split", "1.1", parts.to_str().expect("text")]);
    assert!(arena.ok(&["plan", "save", file]).contains("already matches the file"));
    ends_with(&arena, &["first.txt", "second.txt"]);
    assert_eq!(arena.status_of("1.1"), "done");
}

#[test]
fn a_phase_whose_work_was_taken_back_is_not_complete() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[
        vec![task("1.1", &[], &writes("one"))],
        vec![task("2.1", &["1.1"], &writes("two"))],
    ]);
    assert_eq!(arena.run(&[]).0, 0);
    let complete = |arena: &Arena| -> Vec<bool> {
        let status = arena.json(&["status"]);
        let phases = status["phases"].as_array().expect("phases").clone();
        phases.iter().map(|phase| phase["complete"] == true).collect()
    };
    assert_eq!(complete(&arena), [true, true]);
    arena.ok(&["task", "rollback", "2.1", "--yes"]);
    assert_eq!(complete(&arena), [true, false]);
    arena.ok(&["undo", "--yes"]);
    assert_eq!(complete(&arena), [true, true]);
    arena.ok(&["rollback", "before-merge-1.1", "--yes"]);
    assert_eq!(complete(&arena), [false, false]);
    ends_with(&arena, &BOTH);
    assert_eq!(complete(&arena), [true, true]);
}

/// A checkpoint before a merge does not wait for the disk: it can name a commit of another agent that a power cut takes.
#[test]
fn after_a_rollback_to_a_light_checkpoint_that_names_a_torn_commit_everything_is_done() {
    // Behind walls no agent sees what another one has committed, and nothing of it is in the repository before its end.
    let arena = arena_with(json!({ "sandbox": "none" }));
    let committed = "sh until git log --format=%s swarm/1.2 | grep -q two; do sleep 0.1; done";
    let one = format!("write one.txt one\ncommit feat: one\n{committed}\ncomplete");
    let go = arena.path("go").display().to_string();
    let two = format!("write two.txt two\ncommit feat: two\nwait-for {go}\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &one), task("1.2", &[], &two)]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("one is on trunk", || on_trunk(&arena).contains(&"one.txt".into()));
    wait_for("everybody is dead", || {
        let living = arena.processes();
        let pids = living.iter().filter_map(|process| process.split(' ').next()?.parse().ok());
        for pid in pids.filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        living.is_empty()
    });
    drop(run);
    let torn = arena.git(&["rev-parse", "refs/swarm/checkpoints/before-merge-1.1/tips/1.2"]);
    let object = arena.root.join(format!(".git/objects/{}/{}", &torn[..2], &torn.trim()[2..]));
    std::fs::remove_file(&object).and_then(|()| std::fs::write(&object, "")).expect("torn");
    check(&arena, &[&["rollback", "before-merge-1.1"]], &BOTH);
}

/// The number of the newest operation of this kind.
fn number(arena: &Arena, kind: &str) -> String {
    let all = arena.json(&["op", "log", "--all"]);
    let found = all.as_array().expect("a list").iter().find(|op| op["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}: {all}"))["seq"].to_string()
}

/// 1.1 is rolled back, with a commit of a person behind it or not, and done again otherwise.
fn done_twice(with_commit: bool) -> Arena {
    let arena = arena_with(json!({}));
    let first =
        "on-attempt 1: write first.txt 1\non-attempt 2: write second.txt 2\ncommit feat: one\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], first), task("1.2", &["1.1"], &writes("two"))]]);
    assert_eq!(arena.run(&[]).0, 0);
    if with_commit {
        arena.commit("mine.txt", "mine");
    }
    arena.ok(&["task", "rollback", "1.1", "--cascade", "--yes"]);
    arena.ok(&["task", "block", "1.2", "not now"]);
    arena.run(&[]);
    assert_eq!(arena.status_of("1.1"), "done");
    arena.ok(&["task", "unblock", "1.2"]);
    arena
}

#[test]
fn an_undo_in_part_brings_back_no_second_version_of_work_that_was_done_again() {
    for with_commit in [false, true] {
        let arena = done_twice(with_commit);
        arena.ok(&["undo", &number(&arena, "task rollback"), "--partial", "--yes"]);
        assert!(!on_trunk(&arena).contains(&"first.txt".into()), "{:?}", on_trunk(&arena));
        let mine: &[&str] = if with_commit { &["mine.txt"] } else { &[] };
        ends_with(&arena, &[mine, &["second.txt", "two.txt"]].concat());
    }
}

#[test]
fn a_checkpoint_of_an_aborted_session_brings_its_work_back() {
    let arena = two_done();
    arena.ok(&["abort", "--yes"]);
    arena.ok(&["checkpoint", "create", "aborted"]);
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    arena.ok(&["rollback", "aborted", "--yes"]);
    assert_eq!(on_trunk(&arena), ["README.md"]);
    let (_, said) = arena.run(&["--retry"]);
    // The agent finds what it had committed and has nothing to add.
    assert_eq!(arena.git(&["log", "--format=%s", "main", "--", "one.txt"]), "feat: one\n", "{said}");
    ends_with(&arena, &BOTH);
}

#[test]
fn a_plan_that_was_worked_on_is_not_taken_back_and_nobody_is_sent_to_undo_its_merges() {
    let arena = two_done();
    let log = arena.json(&["op", "log"]);
    let saved =
        log.as_array().expect("a list").iter().find(|op| op["kind"] == "plan save").expect("it is there");
    let (id, number) = (saved["id"].as_str().expect("an id"), saved["seq"].to_string());
    for more in [&[][..], &["--partial"]] {
        let out = arena.swarm(&[&["undo", id, "--yes"], more].concat());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && said.contains("1.1 was worked on"), "{more:?}: {said}");
        assert!(said.contains(&format!("swarm op show {number}")), "{more:?}: {said}");
    }
    assert_eq!(arena.json(&["op", "log"]), log, "a refused undo is no operation");
    ends_with(&arena, &BOTH);
}
