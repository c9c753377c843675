//! Hooks in a real run.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::arena::Arena;
use crate::ground::{arena_with, task};

const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";

fn hook(arena: &Arena, name: &str, script: &str) {
    let path = arena.root.join(".swarm/hooks").join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

#[test]
fn hooks_are_told_what_happened_in_the_order_it_happened() {
    let arena = arena_with(json!({}));
    let log = arena.path("log").display().to_string();
    for name in ["pre-start", "pre-merge", "post-merge", "post-complete"] {
        hook(
            &arena,
            &format!("{name}.sh"),
            &format!("echo \"$SWARM_HOOK $SWARM_TASK_ID $SWARM_STATUS $(pwd)\" >> '{log}'"),
        );
    }
    arena.plan_in_phases(&[vec![task("1.1", &[], GOOD)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    let told = std::fs::read_to_string(&log).expect("hooks ran");
    let root = arena.root.canonicalize().expect("there");
    let expected: Vec<String> =
        ["pre-start 1.1 ", "pre-merge 1.1 ", "post-merge 1.1 ", "post-complete 1.1 done"]
            .iter()
            .map(|line| format!("{line} {}", root.display()))
            .collect();
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told, expected, "each once");
    let list = arena.json(&["hooks", "list"]);
    assert_eq!(list.as_array().map(Vec::len), Some(4), "{list}");
    assert!(arena.ok(&["hooks", "list"]).contains("passed"));
    arena.assert_tidy();
}

/// Also of a task that is done, whose runs are gone by then.
#[test]
fn a_hook_is_told_how_long_the_task_took() {
    let arena = arena_with(json!({ "recovery": { "maxRetries": 0, "backoffMax": "1s" } }));
    let log = arena.path("log").display().to_string();
    hook(
        &arena,
        "post-complete.sh",
        &format!("echo \"$SWARM_TASK_ID $SWARM_STATUS $SWARM_DURATION\" >> '{log}'"),
    );
    let (good, bad) = (format!("sleep 1200\n{GOOD}"), "sleep 1200\nfailed there is no way");
    arena.plan_in_phases(&[vec![task("1.1", &[], &good), task("1.2", &[], bad)]]);
    let began = std::time::Instant::now();
    let (_, said) = arena.run(&["--agents", "2"]);
    let most = began.elapsed().as_secs();
    let told = std::fs::read_to_string(&log).expect("the hook ran");
    for ended in ["1.1 done ", "1.2 failed "] {
        let secs = told.lines().find_map(|line| line.strip_prefix(ended)?.parse::<u64>().ok());
        assert!(
            secs.is_some_and(|secs| (1..=most).contains(&secs)),
            "{ended}{secs:?} of {most}: {told}\n{said}"
        );
    }
    arena.assert_tidy();
}

#[test]
fn a_blocking_hook_refuses_a_merge_and_another_failing_one_only_warns() {
    let arena = arena_with(
        json!({ "hooks": { "pre-merge": { "command": ".swarm/hooks/gate.sh", "blocking": true } } }),
    );
    hook(&arena, "gate.sh", "echo not today; exit 7");
    hook(&arena, "pre-start.sh", "exit 9");
    arena.plan_in_phases(&[vec![task("1.1", &[], GOOD)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.commits("main", "feat: a"), 0, "{said}");
    let told = arena.attention() + &arena.shown("1.1").to_string();
    assert!(told.contains("pre-merge"), "{told}");
    assert!(arena.ok(&["hooks", "list"]).contains("exit code 9"), "{}", arena.ok(&["hooks", "list"]));
    let ran = arena.swarm(&["hooks", "run", "pre-merge", "--set", "TASK_ID=1.1"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("not today"));
    // As JSON it is one document, in which it stands how the hook ended.
    let ran = arena.swarm(&["--json", "hooks", "run", "pre-merge"]);
    let one: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one document");
    assert_eq!((ran.status.code(), &one["hook"]), (Some(1), &json!("pre-merge")), "{one}");
    arena.assert_tidy();
}

#[test]
fn what_an_agent_learned_starts_its_hook_once() {
    let arena = arena_with(json!({}));
    let log = arena.path("log").display().to_string();
    hook(&arena, "on-learning.sh", &format!("echo \"$SWARM_SCOPE $SWARM_CONTENT\" >> '{log}'"));
    let script = format!(
        "print <swarm>LEARNING: tests need a database</swarm>\nprint <swarm>LEARNING: tests need a database</swarm>\nprint <swarm>LEARNING_GLOBAL: tabs</swarm>\n{GOOD}"
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    let told = std::fs::read_to_string(&log).expect("the hook ran");
    assert_eq!(told.lines().collect::<Vec<_>>(), ["local tests need a database", "global tabs"]);
}

/// A hook deals with services, and prints what it was not asked for.
#[test]
fn s4_what_a_hook_prints_is_written_down_without_secrets() {
    let arena = arena_with(json!({}));
    let (password, token) = ("tr0ub4dor-and-3-more", format!("ghp_{}", "A1b2C3d4E5f6G7h8".repeat(3)));
    std::fs::write(arena.root.join(".env"), format!("DB_PASSWORD={password}\n")).expect("a file");
    hook(
        &arena,
        "pre-start.sh",
        &format!("echo connects with {password}; echo pushes with {token} >&2; exit 3"),
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], GOOD)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    let list = arena.ok(&["hooks", "list", "--json"]);
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("text");
    assert!(ledger.contains("connects with"), "what it printed is there");
    for (place, text) in [("run", said), ("list", list), ("ledger", ledger)] {
        assert!(!text.contains(password) && !text.contains(&token), "{place}: {text}");
    }
}
