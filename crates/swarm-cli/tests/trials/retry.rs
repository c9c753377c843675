//! The ways on after a failure or an abort: the same plan, the plan edited first, another plan.

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, task};

/// One task done, one that fails.
fn failed(how: &str) -> Arena {
    let arena = arena_with(json!({}));
    let script = format!("{how}\nwrite b.txt b\ncommit feat: b\ncomplete");
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete"),
        task("1.2", &["1.1"], &script),
    ]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    assert_eq!((arena.status_of("1.1"), arena.status_of("1.2")), ("done".into(), "blocked".into()));
    arena
}

const ONCE: &str = "on-attempt 1: fail key not logged in";

#[test]
fn a_run_that_ends_with_failed_tasks_names_the_ways_on_and_the_first_of_them_works() {
    let arena = failed(ONCE);
    // Run once more, nothing else happens; the summary goes to stdout.
    let said = String::from_utf8(arena.swarm(&["run", "--agent", "script"]).stdout).expect("text");
    for way in ["swarm run --retry ", "swarm run --retry --edit", "swarm run --fresh "] {
        assert!(said.contains(way), "{way} is not in:\n{said}");
    }
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 task is tried again") && !said.contains("To go on"), "{said}");
    arena.assert_all_done();
    // What was done was not done again.
    assert_eq!(arena.starts("1.1"), 1);
    arena.assert_tidy();
}

#[test]
fn a_retry_with_an_edited_plan_goes_on_with_what_was_written() {
    let arena = failed("fail key not logged in");
    let mut command =
        arena.command(&["run", "--agent", "script", "--mode", "autopilot", "--retry", "--edit"]);
    command.env("VISUAL", "sed -i s/fail.key/print/");
    let (code, said) = Running::of(command).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_tidy();
}

#[test]
fn an_abort_names_the_ways_on_as_text_and_as_json() {
    let arena = failed(ONCE);
    let told: Value = serde_json::from_str(&arena.ok(&["abort", "--yes", "--json"])).expect("JSON");
    let options = json!({
        "same_plan": "swarm run --retry",
        "edit_plan": "swarm run --retry --edit",
        "fresh_start": "swarm run --fresh",
    });
    assert_eq!(told["retry_options"], options, "{told}");
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_tidy();
}

/// A plan whose goal says what the scripted agent plans for it, with one task that is done and one that fails.
fn failed_with_a_goal() -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    let again = json!({ "phases": [{ "id": 1, "name": "again", "tasks": [
        task("2.1", &[], "write again.txt x\ncommit feat: again\ncomplete"),
    ] }] });
    let goal = format!("Greet people\n\n```plan-script\nprint {again}\n```");
    let tasks = [
        task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete"),
        task("1.2", &["1.1"], "write half.txt x\ncommit feat: half\nfail key not logged in"),
    ];
    let plan = json!({ "goal": goal, "phases": [{ "id": 1, "name": "first", "tasks": tasks }] });
    let file = arena.path("first.json");
    std::fs::write(&file, plan.to_string()).expect("a file");
    arena.ok(&["plan", "save", file.to_str().expect("text")]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    arena
}

fn archived(arena: &Arena) -> usize {
    std::fs::read_dir(arena.root.join(".swarm/archive")).map_or(0, |entries| {
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().ends_with(".jsonl")).count()
    })
}

#[test]
fn a_fresh_start_archives_the_plan_and_makes_another_one_for_the_same_goal() {
    let arena = failed_with_a_goal();
    // Nobody is asked without a terminal, and nothing is closed then.
    let out = arena.swarm(&["run", "--fresh"]);
    assert_eq!((out.status.code(), archived(&arena)), (Some(2), 0));
    arena.ok(&["run", "--fresh", "--dry-run"]);
    assert_eq!(archived(&arena), 0);
    let (code, said) = arena.run(&["--fresh", "--yes"]);
    assert_eq!(code, 0, "{said}");
    let ids: Vec<Value> = arena.tasks().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, [json!("2.1")], "{said}");
    arena.assert_proven("2.1", "main");
    // What was done stays on trunk, what was not is kept where it can be found.
    assert_eq!((arena.commits("main", "feat: a"), arena.commits("main", "feat: half")), (1, 0));
    assert!(arena.git(&["log", "--all", "--format=%s"]).contains("feat: half"), "it is kept under a ref");
    assert_eq!(archived(&arena), 1);
    arena.assert_tidy();
}

#[test]
fn a_fresh_start_after_an_abort_begins_from_trunk_and_a_retry_from_the_work_that_was_kept() {
    let arena = failed_with_a_goal();
    arena.ok(&["abort", "--yes"]);
    assert_eq!(arena.commits("main", "feat: a"), 0);
    let (code, said) = arena.run(&["--fresh", "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!((arena.commits("main", "feat: a"), arena.commits("main", "feat: again")), (0, 1), "{said}");
    arena.assert_tidy();
    let other = failed_with_a_goal();
    other.ok(&["abort", "--yes"]);
    other.run(&["--retry"]);
    assert_eq!((other.commits("main", "feat: a"), other.commits("main", "feat: again")), (1, 0));
    assert_eq!(other.status_of("1.1"), "done");
}

#[test]
fn a_fresh_start_beside_a_run_begins_when_that_has_left() {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "print waiting\nhang")]]);
    let run = arena.start(&[]);
    wait_for("the agent works", || arena.printed().contains("waiting"));
    let file = arena.path("other.json");
    let tasks = [task("2.1", &[], "write other.txt x\ncommit feat: other\ncomplete")];
    let plan = json!({ "goal": "Another", "phases": [{ "id": 2, "name": "other", "tasks": tasks }] });
    std::fs::write(&file, plan.to_string()).expect("a file");
    let fresh = ["run", "--fresh", "--yes", "--detach", "--mode", "autopilot", "--plan"];
    arena.ok(&[&fresh[..], &[file.to_str().expect("text")][..]].concat());
    run.end();
    wait_for("the other plan is worked on", || arena.commits("main", "feat: other") == 1);
    wait_for("it has ended", || arena.swarm(&["stop", "--dry-run"]).status.code() == Some(4));
    arena.assert_proven("2.1", "main");
    assert_eq!(archived(&arena), 1);
}

#[test]
fn a_fresh_start_that_could_not_begin_leaves_the_plan_alone() {
    let arena = failed(ONCE);
    for (args, why) in [
        (&["--fresh", "--yes", "--plan", "nowhere.md"][..], "nowhere.md"),
        (&["--fresh", "--yes", "--retry"][..], "cannot be used with"),
    ] {
        let out = arena.swarm(&[&["run"], args].concat());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && said.contains(why), "{args:?}: {said}");
        assert_eq!((archived(&arena), arena.tasks().len()), (0, 2), "{args:?}");
    }
    arena.assert_nothing_runs();
}
