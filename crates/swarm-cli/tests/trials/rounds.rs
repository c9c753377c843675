//! Work that was submitted twice: what changed since the first time, in a shell, over the API and on the screen, and without
//! what came from trunk in between.

use std::process::Command;

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::ground::{arena_with, has, task};
use crate::tmux::Tmux;

fn got(arena: &Arena, path: &str) -> Value {
    let socket = arena.root.join(".swarm/run/coordinator.sock");
    let url = format!("http://swarm/v1/{path}");
    let out = Command::new("curl").args(["-s", "--unix-socket"]).arg(socket).arg(url).output();
    serde_json::from_slice(&out.expect("curl runs").stdout).expect("JSON")
}

fn asked(arena: &Arena, query: &str) -> Value {
    got(arena, &format!("tasks/1.1/diff{query}"))
}

fn names(diff: &Value) -> Vec<&str> {
    let files = diff["files"].as_array().expect("files");
    files.iter().filter_map(|file| file["path"].as_str()).collect()
}

#[test]
fn what_changed_since_a_submission_is_told_apart_from_what_came_from_trunk() {
    let arena = arena_with(json!({}));
    let mut work = task(
        "1.1",
        &[],
        "on-attempt 1: write a.txt one\non-attempt 1: commit feat: a\non-attempt 2: write a.txt two\n\
         on-attempt 2: commit fix: a\non-attempt 2: sh git merge --quiet --no-edit main\ncomplete",
    );
    work["review"] = json!("human");
    arena.plan_in_phases(&[vec![work]]);
    let mut run = arena.start(&["--agents", "1"]);
    run.until("swarm review approve 1.1");
    arena.commit("other.txt", "from trunk\n");
    arena.ok(&["review", "needs-changes", "1.1", "two is enough"]);
    run.until("a person requests changes");
    run.until("swarm review approve 1.1");

    let since = arena.ok(&["task", "diff", "1.1", "--since", "1"]);
    has(&since, &["-one", "+two"]);
    assert!(!since.contains("other.txt"), "{since}");
    let first = arena.ok(&["task", "diff", "1.1", "--round", "1"]);
    assert!(first.contains("+one") && !first.contains("other.txt"), "{first}");

    let all = asked(&arena, "");
    assert_eq!((names(&all), all["rounds"].as_array().map(Vec::len)), (vec!["a.txt"], Some(2)), "{all}");
    assert_eq!(all["rounds"][0]["notes"], json!(["two is enough"]), "{all}");
    let configured = got(&arena, "configuration");
    let mouse = configured.as_array().and_then(|all| all.iter().find(|one| one["key"] == "tui.mouse"));
    assert_eq!(mouse, Some(&json!({ "key": "tui.mouse", "value": true, "from": "default" })), "{configured}");
    let happened = got(&arena, "since?record=1");
    assert_eq!(happened["tasks"]["review"], json!(["1.1"]), "{happened}");
    let since = asked(&arena, "?since=1&file=a.txt");
    let lines = since["hunks"][0]["lines"].as_array().expect("lines");
    let told: Vec<_> = lines.iter().map(|line| (line["side"].as_str(), line["text"].as_str())).collect();
    assert_eq!(told, [(Some("old"), Some("one")), (Some("new"), Some("two"))], "{since}");
    assert_eq!(since["since"], 1);
    assert_eq!(names(&asked(&arena, "?round=1")), ["a.txt"]);
    let none = asked(&arena, "?round=7");
    assert!(
        none["error"]["message"].as_str().is_some_and(|text| text.contains("submission number 7")),
        "{none}"
    );

    let usage = got(&arena, "usage");
    let last = usage["moments"].as_array().and_then(|all| all.last()).expect("a moment").clone();
    assert_eq!((&last["open"], &last["done"]), (&json!(1), &json!(0)), "{usage}");

    let tmux = Tmux::start(&arena, 120, 40, &["tui"]);
    tmux.until_line("1.1", "it waits for its review", |line| line.contains("review"));
    tmux.press("D");
    tmux.until("all of it is shown", |screen| screen.contains("2 submissions") && screen.contains("+ two"));
    tmux.press(")");
    tmux.until("what changed is shown", |screen| {
        screen.contains("since submission 1 of 2")
            && screen.contains("- one")
            && !screen.contains("from trunk")
    });
    tmux.press(")");
    tmux.until("what was submitted first is shown", |screen| {
        screen.contains("as submitted, 1 of 2") && screen.contains("+ one") && !screen.contains("two")
    });
    drop(tmux);

    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    // It is on trunk now, and its submissions are still known.
    has(&arena.ok(&["task", "diff", "1.1", "--since", "1"]), &["-one", "+two"]);
    arena.assert_tidy();
}

/// Whoever approved it finds it before them once more, and is told why.
#[test]
fn what_was_approved_and_conflicts_is_reviewed_again_as_approved_not_merged() {
    let arena = arena_with(json!({}));
    let mut work = task(
        "1.1",
        &[],
        "on-attempt 1: write README.md theirs\non-attempt 1: commit docs: theirs\n\
         on-attempt 2: sh git merge -q main; printf 'mine\\ntheirs\\n' > README.md; git add -A; git commit -q -m 'merge: both'\n\
         complete",
    );
    work["review"] = json!("human");
    arena.plan_in_phases(&[vec![work]]);
    let mut run = arena.start(&["--agents", "1"]);
    run.until("swarm review approve 1.1");
    arena.commit("README.md", "mine\n");
    arena.ok(&["review", "approve", "1.1"]);
    run.until("an agent resolves it");
    run.until("swarm review approve 1.1");
    has(
        &arena.attention(),
        &["Task 1.1 waits for your review", "approved before, not merged: conflicts with trunk"],
    );
    let shown = arena.ok(&["review", "show", "1.1"]);
    has(&shown, &["approved, not merged", "conflicts with trunk in README.md"]);
    let first = &got(&arena, "tasks/1.1/diff")["rounds"][0];
    assert_eq!(first["verdict"], "approved, not merged", "{first}");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.git(&["show", "main:README.md"]), "mine\ntheirs\n");
    arena.assert_proven("1.1", "main");
}

#[test]
fn what_was_approved_and_conflicts_is_a_persons_as_approved_not_merged() {
    let arena = arena_with(json!({ "merge": { "resolve": 0 } }));
    let mut work = task("1.1", &[], "write README.md theirs\ncommit docs: theirs\ncomplete");
    work["review"] = json!("human");
    arena.plan_in_phases(&[vec![work]]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    arena.commit("README.md", "mine\n");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!((code, arena.status_of("1.1").as_str()), (1, "blocked"), "{said}");
    has(&arena.attention(), &["approved, not merged: the work conflicts with trunk in README.md"]);
    assert_eq!(arena.git(&["show", "main:README.md"]), "mine\n");
}
