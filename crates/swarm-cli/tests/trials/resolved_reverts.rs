//! A task is taken back whose lines later work has changed: an agent is asked what is to become of them, then a person.

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, has, task};

/// What the agent that resolves should come to: the later work without the task's.
const SETTLED: &str = r#"print {"files": [{"path": "a.txt", "text": "one\ntwo by b\nthree\n"}]}"#;

/// Task 1.1 changes a line, 2.1 the same line after it; whoever resolves the rollback of 1.1 plays `resolve`, in which `$GO` is
/// a file that can be waited for.
fn merged(resolve: &str, changes: Value) -> Arena {
    let mut config = json!({ "verify": { "commands": ["! grep -q broken a.txt"] } });
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        config[name] = value;
    }
    let arena = arena_with(config);
    arena.commit("a.txt", "one\ntwo\nthree\n");
    let work = |by: &str| format!("sh sed -i 's/^two.*/two {by}/' a.txt\ncommit feat: {by}\ncomplete");
    let mut first = task("1.1", &[], &work("by a"));
    let script = first["description"].as_str().unwrap_or_default().to_owned();
    let resolve = resolve.replace("$GO", &arena.path("go").display().to_string());
    first["description"] = json!(format!("{script}\n\n```resolve-script\n{resolve}\n```"));
    arena.plan_in_phases(&[vec![first], vec![task("2.1", &[], &work("by a, then by b"))]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.git(&["show", "main:a.txt"]), "one\ntwo by a, then by b\nthree\n");
    arena
}

/// Asked for, it fails: what was said.
fn in_vain(arena: &Arena) -> String {
    let before = arena.git(&["rev-parse", "main"]);
    let out = arena.swarm(&["task", "rollback", "1.1", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}\n{}", arena.printed());
    assert_eq!(
        (arena.git(&["rev-parse", "main"]), arena.status_of("1.1")),
        (before, "done".into()),
        "{said}"
    );
    assert_eq!(arena.git(&["status", "--porcelain"]), "", "the person's checkout");
    said
}

#[test]
fn c6_an_agent_settles_a_rollback_that_conflicts_and_trunk_has_the_later_work_without_the_task() {
    let look = format!(
        "sh cat \"$SWARM_PROMPT_FILE\"\n\
         sh echo gotcha > a.txt; echo gotcha > new.txt; git commit -q --allow-empty -m gotcha; echo tried\n{SETTLED}"
    );
    let arena = merged(&look, json!({}));
    let seen = arena.ok(&["task", "rollback", "1.1", "--dry-run"]);
    has(
        &seen,
        &["conflicts with later work in a.txt", "script is asked to resolve it, which is verified first"],
    );
    assert!(!arena.printed().contains("tried"), "a look asks nobody");

    let said = arena.ok(&["task", "rollback", "1.1", "--yes"]);
    has(&said, &["Rolled back: 1.1", "resolved and verified: a.txt (by an agent)"]);
    assert_eq!(arena.git(&["show", "main:a.txt"]), "one\ntwo by b\nthree\n");
    assert_eq!((arena.status_of("1.1"), arena.status_of("2.1")), ("pending".into(), "done".into()));
    let told = arena.printed();
    has(
        &told,
        &[
            "# Take back task 1.1: Do 1.1",
            "+two by a",
            "### a.txt",
            "<<<<<<< ",
            "- `! grep -q broken a.txt`",
            "tried",
        ],
    );
    // It read in a worktree of the swarm's own, and could change nothing.
    assert!(arena.git(&["ls-tree", "--name-only", "main"]).lines().all(|name| name != "new.txt"));
    assert_eq!(arena.git(&["log", "--format=%s", "--grep=gotcha", "--all"]), "");
    assert_eq!(arena.git(&["status", "--porcelain"]), "", "the person's checkout");
    has(&arena.shown("1.1")["audit"].to_string(), &["script is asked what is to become of a.txt"]);
    arena.assert_tidy();

    // A revert like any other: it is taken back as one.
    arena.ok(&["undo", "--yes"]);
    assert_eq!(arena.git(&["show", "main:a.txt"]), "one\ntwo by a, then by b\nthree\n");
    assert_eq!(arena.status_of("1.1"), "done");
    arena.assert_tidy();
}

#[test]
fn c6_an_answer_of_no_use_leaves_trunk_alone_and_a_person_is_shown_the_three_sides() {
    for (answer, why) in [
        ("print I like it", "no JSON object"),
        (
            r#"print {"files": [{"path": "a.txt", "text": "one\n<<<<<<< main\ntwo\n>>>>>>> x\nthree\n"}]}"#,
            "marks of the conflict",
        ),
        (
            r#"print {"files": [{"path": "a.txt", "text": "x\n"}, {"path": ".swarm/config.json", "text": "{}"}]}"#,
            "names .swarm/config.json, which does not conflict",
        ),
        (
            r#"print {"files": [{"path": "a.txt", "text": "one\ntwo by a, then by b\nthree\n"}]}"#,
            "nothing would be taken back",
        ),
    ] {
        let arena = merged(answer, json!({ "merge": { "resolve": 1 } }));
        let said = in_vain(&arena);
        has(&said, &["conflicts with later work in a.txt", why, "trunk is untouched", "git revert"]);
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
        arena.assert_tidy();
    }
}

#[test]
fn c6_what_the_agent_made_and_is_red_is_told_to_it_once_more_and_then_to_a_person() {
    let broken = r#"print {"files": [{"path": "a.txt", "text": "broken\n"}]}"#;
    let twice = format!("sh cat \"$SWARM_PROMPT_FILE\"\non-attempt 1: {broken}\non-attempt 2: {SETTLED}");
    let arena = merged(&twice, json!({}));
    let said = arena.ok(&["task", "rollback", "1.1", "--yes"]);
    has(&said, &["Rolled back: 1.1", "resolved and verified: a.txt (by an agent)"]);
    assert_eq!(arena.git(&["show", "main:a.txt"]), "one\ntwo by b\nthree\n");
    has(
        &arena.printed(),
        &["It could not be used: what resolves it in a.txt (by an agent) fails its verification"],
    );
    arena.assert_tidy();

    let arena = merged(broken, json!({}));
    has(&in_vain(&arena), &["what resolves it in a.txt (by an agent) fails its verification", "git revert"]);
    assert_eq!(arena.git(&["for-each-ref", "refs/swarm/kept/resolved"]), "", "what is red is not kept");
    arena.assert_tidy();
}

#[test]
fn c6_nobody_asks_an_agent_where_it_is_not_wanted_or_nothing_would_verify_what_it_says() {
    for changes in [json!({ "merge": { "resolve": 0 } }), json!({ "verify": { "commands": [] } })] {
        let arena = merged(&format!("print tried\n{SETTLED}"), changes);
        let said = in_vain(&arena);
        has(&said, &["conflicts with later work in a.txt", "swarm task diff 1.1 --conflict", "git revert"]);
        assert!(!arena.printed().contains("tried"));
        arena.assert_tidy();
    }
}

#[test]
fn c6_a_rollback_killed_while_its_agent_is_asked_is_finished_by_the_next_coordinator() {
    let arena = merged(&format!("print asked\nwait-for $GO\n{SETTLED}"), json!({}));
    let mut command = Running::of(arena.command(&["task", "rollback", "1.1", "--yes"]));
    wait_for("the agent is asked", || arena.printed().contains("asked"));
    command.kill_9();
    assert_eq!(arena.git(&["show", "main:a.txt"]), "one\ntwo by a, then by b\nthree\n");
    std::fs::write(arena.path("go"), "").expect("a file");
    let (_, said) = arena.run(&[]);
    has(&arena.shown("1.1")["audit"].to_string(), &["round 1", "it was interrupted", "round 2"]);
    let revert = arena.git(&["log", "--format=%H", "--grep=^Revert", "main"]);
    assert_eq!(revert.lines().count(), 1, "it moved once: {said}");
    assert_eq!(arena.git(&["show", &format!("{}:a.txt", revert.trim())]), "one\ntwo by b\nthree\n");
    has(&arena.json(&["op", "log"]).to_string(), &["Rolled back: 1.1"]);
    arena.assert_tidy();
}
