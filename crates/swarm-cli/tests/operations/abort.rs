//! The whole session taken back, and tried again.

use serde_json::json;

use crate::arena::wait_for;
use crate::ground::{arena_with, task};

#[test]
fn an_aborted_session_leaves_trunk_where_it_began_and_a_retry_merges_everything_again_in_order() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], "append one.txt two\ncommit feat: two\ncomplete"),
    ]]);
    let began = arena.git(&["rev-parse", "main"]);
    arena.ok(&["checkpoint", "create", "start"]);
    let merged_since = || {
        let all = arena.json(&["checkpoint", "list"]);
        let start = all.as_array().expect("a list").iter().find(|one| one["name"] == "start").cloned();
        start.expect("it is listed")["mergedSince"].clone()
    };
    assert_eq!(arena.run(&[]).0, 0);
    assert_eq!(merged_since(), json!(["1.1", "1.2"]));
    arena.ok(&["abort", "--yes"]);
    assert_eq!(merged_since(), json!([]), "nothing of it is on trunk");
    assert_eq!(arena.git(&["rev-parse", "main"]), began);
    assert!(arena.attention().contains("aborted"), "{}", arena.attention());
    assert!(arena.worktrees().iter().all(|path| path.ends_with("/merge")), "{:?}", arena.worktrees());
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    assert_eq!(merged_since(), json!(["1.1", "1.2"]), "merged twice, and counted once");
    let log = arena.git(&["log", "--format=%s", "--reverse", "main"]);
    assert_eq!(log.lines().collect::<Vec<_>>(), ["start", "feat: one", "feat: two"]);
    assert_eq!(arena.starts("1.1"), 1, "nobody worked again");
    arena.assert_tidy();
}

#[test]
fn a_revert_that_the_swarm_made_is_not_told_as_the_work_of_others() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], "write two.txt two\ncommit feat: two\ncomplete"),
    ]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.write("mine.txt", "mine\n");
    arena.git(&["add", "mine.txt"]);
    arena.git(&["commit", "--quiet", "--message", "mine"]);
    arena.ok(&["task", "rollback", "1.2", "--yes"]);
    let look = arena.ok(&["abort", "--dry-run"]);
    let (before, others) = look.split_once("Other commits").expect("there are some");
    let others = others.split("\n\n").next().expect("lines");
    assert!(others.contains("mine") && !others.contains("feat: two"), "{look}");
    assert!(before.contains("stays:"), "{look}");
}

#[test]
fn after_an_abort_one_command_goes_on_also_where_a_run_waits() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let waits = format!("wait-for {}\nwrite two.txt two\ncommit feat: two\ncomplete", go.display());
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], &waits),
    ]]);
    let run = arena.start(&[]);
    wait_for("the first is done and the second begun", || arena.shown("1.2")["status"] == "active");
    arena.ok(&["abort", "--yes"]);
    let status = arena.ok(&["status"]);
    assert!(status.contains("1 aborted") && !status.contains("merging"), "{status}");
    assert!(status.contains("swarm run --retry") && !status.contains("swarm resume"), "{status}");
    std::fs::write(&go, "").expect("the signal file");
    assert_eq!(arena.ok(&["run", "--retry"]).trim(), "Resumed after the abort");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}

#[test]
fn what_an_abort_took_from_a_task_in_the_middle_of_its_work_is_there_again_with_the_retry() {
    let arena = arena_with(json!({}));
    let first = [
        "write half.txt half",
        "commit feat: half",
        "write loose.txt loose",
        "print at work",
        "sleep 600000",
    ];
    let first: String = first.iter().map(|line| format!("on-attempt 1: {line}\n")).collect();
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], &format!("{first}append half.txt whole\ncommit feat: whole\ncomplete")),
    ]]);
    let run = arena.start(&[]);
    wait_for("the second is at work", || arena.printed().contains("at work"));
    let look = arena.ok(&["abort", "--dry-run"]);
    assert!(look.contains("the worktree of 1.2 comes back with `swarm run --retry`"), "{look}");
    arena.ok(&["abort", "--yes"]);
    assert!(arena.worktrees().iter().all(|path| path.ends_with("/merge")), "{:?}", arena.worktrees());
    // Nothing is missing: it was put away.
    let doctor = String::from_utf8_lossy(&arena.swarm(&["doctor", "--json"]).stdout).into_owned();
    assert!(doctor.contains("task-branch") && !doctor.contains("the branch swarm/1.2 is gone"), "{doctor}");
    arena.ok(&["run", "--retry"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    let log = arena.git(&["log", "--format=%s", "--reverse", "main"]);
    let log: Vec<&str> = log.lines().collect();
    assert_eq!(log[..3], ["start", "feat: one", "feat: half"], "{log:?}");
    assert_eq!(arena.git(&["show", "main:half.txt"]), "half\nwhole\n");
    assert_eq!(arena.git(&["show", "main:loose.txt"]), "loose\n");
    arena.assert_tidy();
}

#[test]
fn work_that_conflicts_when_it_is_merged_again_lies_in_its_worktree_for_whoever_goes_on() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt swarm\ncommit feat: one\ncomplete")]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.ok(&["abort", "--yes"]);
    arena.write("one.txt", "mine\n");
    arena.git(&["add", "one.txt"]);
    arena.git(&["commit", "--quiet", "--message", "mine"]);
    let (code, said) = arena.run(&["--retry"]);
    assert!(code != 0 && arena.status_of("1.1") == "blocked", "{said}");
    let diff = arena.ok(&["task", "diff", "1.1"]);
    assert!(diff.contains("+swarm"), "{diff}");
    assert_eq!(arena.git(&["show", "swarm/1.1:one.txt"]), "swarm\n");
    let worktree =
        arena.worktrees().into_iter().find(|path| path.ends_with("/1.1")).expect("it lies there again");
    // The way that the attention list names.
    arena.git(&["-C", &worktree, "merge", "--quiet", "-X", "ours", "--no-edit", "main"]);
    arena.ok(&["worktree", "merge", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    assert_eq!(arena.git(&["show", "main:one.txt"]), "swarm\n");
    assert_eq!(arena.starts("1.1"), 1, "nobody worked again");
}

#[test]
fn a_retry_that_has_merged_everything_again_is_taken_back_by_another_abort_and_not_by_its_pause_alone() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
    let began = arena.git(&["rev-parse", "main"]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.ok(&["abort", "--yes"]);
    assert_eq!(arena.run(&["--retry"]).0, 0);
    let out = arena.swarm(&["undo", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && said.contains("merged again"), "{said}");
    assert!(said.contains("swarm abort"), "{said}");
    assert!(!arena.attention().contains("aborted"), "{}", arena.attention());
    arena.ok(&["abort", "--yes"]);
    assert_eq!(arena.git(&["rev-parse", "main"]), began);
    assert_eq!(arena.run(&["--retry"]).0, 0);
    arena.assert_all_done();
    arena.assert_proven("1.1", "main");
}
