//! Many commands at once, with a coordinator that comes and goes in the middle.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arena::{Arena, wait_for};

const PROCESSES: usize = 16;
const TASKS_EACH: usize = 100;

#[test]
fn sixteen_processes_add_1600_tasks_while_a_coordinator_comes_and_goes() {
    let arena = Arena::new("{}");
    arena.ok(&["task", "add", "First", "--id", "first"]);
    // A paused coordinator serves the door and starts nothing.
    arena.ok(&["pause"]);
    let added = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for p in 0..PROCESSES {
            let (arena, added) = (&arena, &added);
            scope.spawn(move || {
                for n in 0..TASKS_EACH {
                    let id = format!("p{p}.n{n}");
                    let out = arena.swarm(&["task", "add", "One of many", "--id", &id]);
                    let said = String::from_utf8_lossy(&out.stderr);
                    assert!(out.status.success() && said.is_empty(), "{id}: {:?} {said}", out.status);
                    added.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for round in 1..=3 {
            wait_for("some are there", || added.load(Ordering::SeqCst) > round * PROCESSES * TASKS_EACH / 5);
            let mut run = arena.start(&[]);
            run.until("the swarm runs");
            let before = added.load(Ordering::SeqCst);
            wait_for("some were taken by the coordinator", || added.load(Ordering::SeqCst) > before + 50);
            if round == 2 {
                run.kill_9();
            } else {
                run.signal("INT");
                let (_, said) = run.end();
                assert!(!said.contains("Error"), "{said}");
            }
        }
    });
    assert_eq!(arena.tasks().len(), PROCESSES * TASKS_EACH + 1);
    arena.ok(&["plan", "verify"]);
    dense_chain(&arena);
}

/// Looked at from outside: one line per seq, each naming the hash of the one before.
fn dense_chain(arena: &Arena) {
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let mut last = None;
    for (n, line) in ledger.lines().enumerate() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record");
        assert_eq!(record["seq"], n as u64 + 1);
        if let Some(last) = last {
            assert_eq!(record["prev"], last);
        }
        last = Some(record["hash"].clone());
    }
}
