//! A task is taken back whose lines later work has changed: an agent is asked what is to become of them, then a person.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, has, task};

/// What the agent that resolves should come to: the later work without the task's.
const SETTLED: &str = r#"print {"files": [{"path": "a.txt", "text": "one\ntwo by b\nthree\n"}]}"#;

const BEFORE: &str = "one\ntwo by a, then by b\nthree\n";
const AFTER: &str = "one\ntwo by b\nthree\n";

/// Task 1.1 changes a line and adds a file; 2.1, planned when that was done, changes the same line and adds another. Whoever
/// resolves the rollback of 1.1 plays `resolve`, in which `$GO` is a file that can be waited for.
fn merged(resolve: &str, changes: Value) -> Arena {
    let mut config = json!({ "verify": { "commands": ["! grep -q broken a.txt"] } });
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        config[name] = value;
    }
    let arena = arena_with(config);
    arena.commit("a.txt", "one\ntwo\nthree\n");
    for phases in [vec![first(&arena, resolve)], vec![first(&arena, resolve), second()]] {
        arena.plan_in_phases(&phases);
        let (code, said) = arena.run(&[]);
        assert_eq!(code, 0, "{said}");
    }
    assert_eq!(arena.git(&["show", "main:a.txt"]), BEFORE);
    arena
}

fn work(by: &str, file: &str) -> String {
    format!("sh sed -i 's/^two.*/two {by}/' a.txt\nwrite {file} {by}\ncommit feat: {by}\ncomplete")
}

fn first(arena: &Arena, resolve: &str) -> Vec<Value> {
    let mut first = task("1.1", &[], &work("by a", "only-a.txt"));
    let script = first["description"].as_str().unwrap_or_default().to_owned();
    let resolve = resolve.replace("$GO", &arena.path("go").display().to_string());
    first["description"] = json!(format!("{script}\n\n```resolve-script\n{resolve}\n```"));
    vec![first]
}

fn second() -> Vec<Value> {
    vec![task("2.1", &[], &work("by a, then by b", "only-b.txt"))]
}

/// The task's work is gone from this commit, and the later work is there.
fn is_taken_back_at(arena: &Arena, commit: &str) {
    assert_eq!(arena.git(&["show", &format!("{commit}:a.txt")]), AFTER);
    let files = arena.git(&["ls-tree", "--name-only", commit]);
    assert!(!files.contains("only-a.txt") && files.contains("only-b.txt"), "{files}");
}

/// The commit by which 1.1 was taken back, and there is no other.
fn the_revert(arena: &Arena) -> String {
    let reverts = arena.git(&["log", "--format=%H", "--grep=^Revert", "main"]);
    assert_eq!(reverts.lines().count(), 1, "{reverts}");
    reverts.trim().to_owned()
}

fn checkout_is_clean(arena: &Arena) {
    let status = arena.git(&["status", "--porcelain", "--", ".", ":!.swarm"]);
    assert_eq!(status, "", "the person's checkout");
}

fn rolls_back(arena: &Arena) -> Running {
    Running::of(arena.command(&["task", "rollback", "1.1", "--yes"]))
}

/// Asked for, it fails, and trunk is as it was: what was said.
fn in_vain(arena: &Arena) -> String {
    let before = arena.git(&["rev-parse", "main"]);
    let (code, said) = rolls_back(arena).end();
    assert_eq!(code, 1, "{said}\n{}", arena.printed());
    is_untouched(arena, &before, &said);
    said
}

fn is_untouched(arena: &Arena, before: &str, said: &str) {
    let now = (arena.git(&["rev-parse", "main"]), arena.status_of("1.1"));
    assert_eq!(now, (before.to_owned(), "done".into()), "{said}");
    has(said, &["conflicts with later work in a.txt", "trunk is untouched", "git revert"]);
    checkout_is_clean(arena);
    arena.assert_tidy();
}

fn times_asked(arena: &Arena) -> usize {
    arena.printed().lines().filter(|line| *line == "asked").count()
}

#[test]
fn c6_an_agent_settles_a_rollback_that_conflicts_and_trunk_has_the_later_work_without_the_task() {
    let look = format!(
        "sh cat \"$SWARM_PROMPT_FILE\"\n\
         sh echo gotcha > a.txt; echo gotcha > new.txt; git commit -q --allow-empty -m gotcha; echo asked\n{SETTLED}"
    );
    let arena = merged(&look, json!({}));
    let seen = arena.ok(&["task", "rollback", "1.1", "--dry-run"]);
    let would_ask = "script is asked to resolve it, which is verified first";
    has(&seen, &["conflicts with later work in a.txt", would_ask]);
    assert_eq!(times_asked(&arena), 0, "a look asks nobody");

    let (code, said) = rolls_back(&arena).end();
    assert_eq!(code, 0, "{said}");
    has(&said, &["script is asked to resolve what conflicts when it is taken back: a.txt (Ctrl+C ends it"]);
    has(&arena.ok(&["op", "log"]), &["Rolled back: 1.1", "resolved and verified: a.txt (by an agent)"]);
    is_taken_back_at(&arena, "main");
    assert_eq!((arena.status_of("1.1"), arena.status_of("2.1")), ("pending".into(), "done".into()));
    let marks = ["<<<<<<< ", "- `! grep -q broken a.txt`"];
    has(&arena.printed(), &["# Take back task 1.1: Do 1.1", "+two by a", "### a.txt", "asked"]);
    has(&arena.printed(), &marks);
    // It read in a worktree of the swarm's own, and could change nothing.
    assert!(!arena.git(&["ls-tree", "--name-only", "main"]).contains("new.txt"));
    assert_eq!(arena.git(&["log", "--format=%s", "--grep=gotcha", "--all"]), "");
    checkout_is_clean(&arena);
    has(&arena.shown("1.1")["audit"].to_string(), &["script is asked what is to become of a.txt"]);
    arena.assert_tidy();

    // A revert like any other: it is taken back as one.
    arena.ok(&["undo", "--yes"]);
    assert_eq!(arena.git(&["show", "main:a.txt"]), BEFORE);
    assert_eq!(arena.git(&["show", "main:only-a.txt"]), "by a\n");
    assert_eq!(arena.status_of("1.1"), "done");
    arena.assert_tidy();
}

#[test]
fn c6_an_answer_of_no_use_leaves_trunk_alone_and_a_person_is_shown_the_three_sides() {
    let files = |files: &str| format!(r#"print {{"files": [{files}]}}"#);
    for (answer, why) in [
        ("print I like it".to_owned(), "no JSON object"),
        ("print only a person can decide this".to_owned(), "no JSON object"),
        (
            files(r#"{"path": "a.txt", "text": "one\n<<<<<<< main\ntwo\n>>>>>>> x\nthree\n"}"#),
            "marks of the conflict",
        ),
        (
            files(r#"{"path": "a.txt", "text": "x\n"}, {"path": ".swarm/config.json", "text": "{}"}"#),
            "names .swarm/config.json, which does not conflict",
        ),
    ] {
        let arena = merged(&answer, json!({ "merge": { "resolve": 1 } }));
        has(&in_vain(&arena), &[why]);
        let attention = arena.attention();
        has(&attention, &["Operation failed: task rollback", "swarm task diff 1.1 --conflict", "git revert"]);
        let sides = arena.ok(&["task", "diff", "1.1", "--conflict"]);
        has(
            &sides,
            &[
                "Taking task 1.1 back conflicts with main in 1 file",
                "\na.txt\n  line 2\n",
                "  as 1.1 left it:\n  | two by a\n",
                "  main:\n  | two by a, then by b\n",
                "  before 1.1:\n  | two\n",
                "To decide it: `git revert ",
            ],
        );
    }
}

#[test]
fn c6_an_agent_that_crashes_each_time_is_asked_so_often_and_then_a_person_is() {
    let arena = merged("print asked\ncrash 7", json!({ "merge": { "resolve": 3 } }));
    let hook = arena.root.join(".swarm/hooks/on-conflict.sh");
    let says = "echo \"$SWARM_TASK_ID $SWARM_LEVEL $SWARM_FILES\" >> \"$(dirname \"$0\")/ran\"";
    arena.write(".swarm/hooks/on-conflict.sh", &format!("#!/bin/sh\n{says}\n"));
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("it can be run");

    has(&in_vain(&arena), &["script did not resolve it", "exit code 7"]);
    assert_eq!(times_asked(&arena), 3);
    // Hooks wait for nobody, so not for each other either.
    let heard = std::fs::read_to_string(hook.with_file_name("ran")).expect("the hook was run");
    let mut heard: Vec<&str> = heard.lines().collect();
    heard.sort_unstable();
    assert_eq!(heard, ["1.1 3 a.txt", "1.1 3 a.txt", "1.1 3 a.txt", "1.1 4 a.txt"]);
    in_vain(&arena);
    assert_eq!(times_asked(&arena), 6, "asked for again, it is tried again");
}

#[test]
fn c6_what_the_agent_made_and_is_red_is_told_to_it_once_more_and_then_to_a_person() {
    let broken = r#"print {"files": [{"path": "a.txt", "text": "broken\n"}]}"#;
    let twice = format!("sh cat \"$SWARM_PROMPT_FILE\"\non-attempt 1: {broken}\non-attempt 2: {SETTLED}");
    let arena = merged(&twice, json!({}));
    let (code, said) = rolls_back(&arena).end();
    assert_eq!(code, 0, "{said}");
    is_taken_back_at(&arena, "main");
    let told = "It could not be used: the resolution of a.txt (by an agent) fails the verification";
    has(&arena.printed(), &[told]);
    arena.assert_tidy();

    let arena = merged(broken, json!({}));
    has(&in_vain(&arena), &["the resolution of a.txt (by an agent) fails the verification"]);
    assert_eq!(arena.git(&["for-each-ref", "refs/swarm/kept/resolved"]), "", "what is red is not kept");
}

#[test]
fn c6_nobody_asks_an_agent_where_it_is_not_wanted_or_nothing_would_verify_what_it_says() {
    let arena = merged(&format!("print asked\n{SETTLED}"), json!({}));
    for changes in [json!({ "merge": { "resolve": 0 } }), json!({ "verify": { "commands": [] } })] {
        let saved = std::fs::read_to_string(arena.root.join(".swarm/config.json")).expect("settings");
        let mut config: Value = serde_json::from_str(&saved).expect("JSON");
        for (name, value) in changes.as_object().expect("settings") {
            config[name] = value.clone();
        }
        arena.write(".swarm/config.json", &config.to_string());
        // The look goes by the configuration as it is now, as the command does.
        for args in [&["task", "rollback", "1.1", "--dry-run"][..], &["task", "rollback", "1.1", "--yes"]] {
            let out = arena.swarm(args);
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(1), "{args:?}: {said}");
            has(
                &said,
                &["conflicts with later work in a.txt", "swarm task diff 1.1 --conflict", "git revert"],
            );
        }
        assert_eq!(times_asked(&arena), 0);
    }
    assert_eq!(arena.git(&["show", "main:a.txt"]), BEFORE);
    arena.assert_tidy();
}

#[test]
fn c6_a_rollback_killed_while_its_agent_is_asked_is_finished_by_the_next_command_and_moves_once() {
    let arena = merged(&format!("print asked\nwait-for $GO\n{SETTLED}"), json!({}));
    let mut command = rolls_back(&arena);
    wait_for("the agent is asked", || times_asked(&arena) == 1);
    has(&arena.ok(&["op", "log"]), &["resolving: script is asked what is to become of a.txt"]);
    command.kill_9();
    assert_eq!(arena.git(&["show", "main:a.txt"]), BEFORE);
    std::fs::write(arena.path("go"), "").expect("a file");
    // Any command that changes something goes on with it first, without a run.
    let next = arena.swarm(&["checkpoint", "create", "next"]);
    let said = String::from_utf8_lossy(&next.stderr).into_owned();
    has(&said, &["Finishing an interrupted operation first: task rollback", "script is asked again"]);
    has(&arena.shown("1.1")["audit"].to_string(), &["round 1", "it was interrupted", "round 2"]);
    assert_eq!(times_asked(&arena), 2, "once by each");
    is_taken_back_at(&arena, "main");
    is_taken_back_at(&arena, &the_revert(&arena));
    arena.assert_tidy();
}

#[test]
fn c6_whoever_waits_for_the_agent_no_longer_stops_it_by_ctrl_c_and_decides_alone() {
    let arena = merged(&format!("print asked\nwait-for $GO\n{SETTLED}"), json!({}));
    let before = arena.git(&["rev-parse", "main"]);
    let command = rolls_back(&arena);
    wait_for("the agent is asked", || times_asked(&arena) == 1);
    command.signal("INT");
    let (code, said) = command.end();
    assert_eq!(code, 1, "{said}");
    has(&said, &["script did not resolve it: it was told to stop"]);
    is_untouched(&arena, &before, &said);
    assert_eq!(times_asked(&arena), 1);
}

/// 3.1 is at work in a coordinator and waits for a file, and the rollback of 1.1 has asked its agent there.
fn asked_in_a_run(arena: &Arena) -> (Running, Running) {
    let waits = format!("wait-for {}\nwrite c.txt c\ncommit feat: c\ncomplete", arena.path("on").display());
    let third = vec![task("3.1", &[], &waits)];
    let resolve = format!("print asked\nwait-for $GO\n{SETTLED}");
    arena.plan_in_phases(&[first(arena, &resolve), second(), third]);
    let run = arena.start(&[]);
    wait_for("3.1 is at work", || arena.status_of("3.1") == "active");
    let command = rolls_back(arena);
    wait_for("the agent is asked", || times_asked(arena) == 1);
    (run, command)
}

#[test]
fn c6_beside_a_coordinator_the_agent_is_asked_there_and_whoever_works_meanwhile_goes_on() {
    let arena = merged(&format!("print asked\nwait-for $GO\n{SETTLED}"), json!({}));
    let (run, command) = asked_in_a_run(&arena);
    std::fs::write(arena.path("go"), "").expect("a file");
    let (code, said) = command.end();
    assert_eq!(code, 0, "{said}");
    has(&said, &["resolving: script is asked what is to become of a.txt"]);
    is_taken_back_at(&arena, &the_revert(&arena));
    std::fs::write(arena.path("on"), "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.starts("3.1"), 1, "its daemon was not ended with the question: {said}");
    arena.assert_tidy();
}

#[test]
fn c6_a_coordinator_killed_while_it_asks_is_followed_by_one_that_asks_again_and_moves_once() {
    let arena = merged(&format!("print asked\nwait-for $GO\n{SETTLED}"), json!({}));
    let (mut run, mut command) = asked_in_a_run(&arena);
    command.kill_9();
    run.kill_9();
    for file in ["go", "on"] {
        std::fs::write(arena.path(file), "").expect("a file");
    }
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    has(&said, &["script is asked again"]);
    is_taken_back_at(&arena, &the_revert(&arena));
    assert_eq!(times_asked(&arena), 2, "once by each");
    arena.assert_tidy();
}
