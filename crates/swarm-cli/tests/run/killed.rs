//! The coordinator killed with SIGKILL again and again: the agents do not notice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::arena::{Arena, files_below};

const KILLS: u64 = 50;
const TASKS: usize = 10;
const LINES: usize = 16;

/// Lines with pauses between them, so that every kill finds agents in the middle of something; and in
/// the middle a gate, which opens when it is this task's turn: the work lasts as long as the killing.
fn script(arena: &Arena, id: &str) -> String {
    let mut lines = vec![format!("count {}", arena.path(&format!("count-{id}")).display())];
    for n in 1..=LINES {
        lines.push(format!("print step {n} of {LINES}"));
        lines.push("sleep 60".into());
        if n == LINES / 2 {
            lines.push(format!("wait-for {}", arena.path(&format!("go-{id}")).display()));
            lines.push(format!("write work/{id}.txt half"));
            lines.push(format!("commit feat: first half of {id}"));
        }
    }
    lines.push(format!("write work/{id}.txt whole"));
    lines.push(format!("commit feat: second half of {id}"));
    lines.push("complete".into());
    lines.join("\n")
}

#[test]
fn one_run_killed_fifty_times_restarts_no_agent_loses_no_line_and_merges_once() {
    // The agents leave their traces outside of their worktrees, where the walls would not let them.
    let arena = Arena::new(r#"{ "sandbox": "none", "check": { "commands": ["true"] } }"#);
    let ids: Vec<String> = (1..=TASKS).map(|n| format!("1.{n}")).collect();
    let tasks: Vec<(&str, &[&str], String)> =
        ids.iter().map(|id| (id.as_str(), &[][..], script(&arena, id))).collect();
    arena.plan(&tasks);
    let mut kills = 0;
    while kills < KILLS {
        let mut run = arena.start(&["--agents", "2"]);
        // Different moments: from the very start to the middle of merges.
        let ended_early = run.for_a_while(Duration::from_millis(20 + kills * 37 % 700));
        assert!(!ended_early, "a run ended by itself after {kills} kills: {:?}", run.end());
        run.kill_9();
        kills += 1;
        if kills % (KILLS / TASKS as u64) == 0 {
            let id = &ids[(kills / (KILLS / TASKS as u64)) as usize - 1];
            std::fs::write(arena.path(&format!("go-{id}")), "").expect("the gate opens");
        }
    }
    let (code, said) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 0, "{said}");
    println!("killed {kills} times");

    arena.assert_all_done();
    arena.assert_nothing_left();
    for task in arena.tasks() {
        assert_eq!(task["attempts"], 1, "no living agent is restarted: {task}");
    }
    for id in &ids {
        let count = std::fs::read_to_string(arena.path(&format!("count-{id}"))).expect("the agent ran");
        assert_eq!(count.lines().count(), 1, "the agent of {id} ran more than once");
        assert_eq!(arena.commits("main", &format!("feat: first half of {id}")), 1);
        assert_eq!(arena.commits("main", &format!("feat: second half of {id}")), 1);
    }
    assert_eq!(steps_said(&arena), TASKS, "every journal is whole");
    arena.ok(&["plan", "verify"]);
    arena.git(&["fsck", "--strict"]);
}

/// Journals in which every step stands exactly once and in order, with dense numbers.
fn steps_said(arena: &Arena) -> usize {
    let mut whole = 0;
    for file in files_below(&arena.root.join(".swarm/agents"), ".jsonl") {
        let text = std::fs::read_to_string(&file).expect("a journal");
        let lines: Vec<BTreeMap<String, Value>> =
            text.lines().map(|line| serde_json::from_str(line).expect("a journal line")).collect();
        let numbers: Vec<u64> = lines.iter().filter_map(|l| l["n"].as_u64()).collect();
        assert!(numbers.windows(2).all(|w| w[1] == w[0] + 1), "{}: numbers are not dense", file.display());
        let steps: Vec<String> = lines
            .iter()
            .filter_map(|l| l["text"].as_str())
            .filter(|t| t.starts_with("step "))
            .map(str::to_owned)
            .collect();
        let wanted: Vec<String> = (1..=LINES).map(|n| format!("step {n} of {LINES}")).collect();
        if !steps.is_empty() {
            assert_eq!(steps, wanted, "{}", file.display());
            whole += 1;
        }
    }
    whole
}

#[test]
fn a_living_daemon_is_a_witness_against_a_ledger_that_was_cut() {
    let arena = Arena::new(r#"{ "stop": { "grace": "1s", "drain": "1s" } }"#);
    arena.plan(&[("1.1", &[], "hang".into())]);
    let mut run = arena.start(&[]);
    run.until("is working");
    let record = arena.root.join(".swarm/run/daemons/r1.json");
    let told = || std::fs::read_to_string(&record).ok().and_then(|t| serde_json::from_str::<Value>(&t).ok());
    crate::arena::wait_for("the daemon was told how far the ledger is", || {
        told().is_some_and(|r| r["ledger"]["seq"].is_u64())
    });
    run.kill_9();
    // Somebody cuts the ledger and takes away everything else that knew more.
    let ledger = arena.root.join(".swarm/plan-ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).expect("the ledger");
    let last_of_batch =
        |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|r| r["seq"] == r["batch"]);
    let batch = text.lines().position(last_of_batch).expect("a whole batch") + 1;
    let kept: String = text.split_inclusive('\n').take(batch).collect();
    std::fs::write(&ledger, kept).expect("cut");
    for gone in
        [".git/swarm/plan-ledger.jsonl", ".swarm/state/snapshot.json", ".swarm/state/snapshot.prev.json"]
    {
        let _ = std::fs::remove_file(arena.root.join(gone));
    }
    let verify = arena.swarm(&["plan", "verify"]);
    let said = String::from_utf8_lossy(&[verify.stdout, verify.stderr].concat()).into_owned();
    assert_eq!(verify.status.code(), Some(3), "{said}");
    assert!(said.contains("r1.json"), "the witness is named: {said}");
    // The run that the ledger no longer knows is ended and its work saved.
    let mut next = arena.start(&[]);
    next.until("started (epoch");
    next.signal("INT");
    next.end();
    arena.assert_nothing_runs();
}
