//! Two coordinators on one repository: one writes, the other says who does; and one that slept while another came is
//! refused in whatever it does.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::arena::{Arena, Running, send, wait_for};
use crate::ground::{arena_with, scaled};
use crate::victims::{Party, is_stopped, signal};

/// A swarm that stays and starts nothing, so that only the ledger is fought for.
fn paused() -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan(&[("1.1", &[], "hang".into())]);
    arena.ok(&["pause"]);
    arena
}

/// The loser's words name the winner, for how long it has run, and what to do.
fn check_refusal(code: i32, said: &str, winner: u32, hint: &str) {
    assert!(matches!(code, 1 | 3), "{code}: {said}");
    for words in [&format!("pid {winner} "), "running for", hint] {
        assert!(said.contains(words), "{words:?} is missing: {said}");
    }
}

#[test]
fn of_two_coordinators_started_at_once_one_writes_and_the_other_names_it() {
    let arena = paused();
    for round in 1..=scaled(24, 1000) {
        let mut rivals = vec![arena.start(&[]), arena.start(&[])];
        let mut loser = None;
        wait_for("one of them gives up", || {
            loser = rivals.iter_mut().position(|r| r.child.try_wait().expect("ours").is_some());
            loser.is_some()
        });
        let (code, said) = rivals.remove(loser.expect("one ended")).end();
        let mut winner = rivals.remove(0);
        winner.until("started (epoch");
        check_refusal(code, &said, winner.coordinator(), "swarm status --watch");
        assert_eq!(arena.records("coordinator_started") as u64, round, "one writes");
        winner.kill_9();
    }
    check_ledger(&arena);
}

/// Between two looks at a coordinator that may have been stopped again.
const LOOK: Duration = Duration::from_millis(50);

/// The call at which the winner is stopped: each comes after the owner's lock and before the first record.
const STOPS: &[(&str, &str)] = &[("run/owner.lock", "pwrite64"), ("plan-ledger.jsonl", "fdatasync")];

#[test]
fn a_winner_that_is_stopped_before_its_first_record_keeps_the_other_out_and_is_named() {
    let arena = paused();
    for round in 1..=usize::try_from(scaled(6, 200)).expect("small") {
        let (file, call) = STOPS[round % STOPS.len()];
        let before = std::fs::read(arena.ledger()).expect("a ledger");
        let mut first = start_and_stop_at(&arena, file, call);
        let mut winner = 0;
        wait_for("the winner is stopped", || {
            winner = arena.owner().unwrap_or(0);
            arena.living(Party::Coordinator).contains(&winner) && is_stopped(winner)
        });
        let (code, said) = arena.start(&[]).end();
        check_refusal(code, &said, winner, &format!("kill -CONT {winner}"));
        assert!(said.contains("stopped by a signal"), "{said}");
        assert_eq!(std::fs::read(arena.ledger()).expect("a ledger"), before, "nobody writes meanwhile");
        // Again and again: each of its threads is stopped at its first call.
        wait_for("the winner goes on", || {
            signal(winner, Signal::CONT);
            arena.records("coordinator_started") == round && !is_stopped(winner)
        });
        // A thread that makes its first call only now is stopped as well.
        wait_for("it says that it has started", || {
            signal(winner, Signal::CONT);
            first.for_a_while(LOOK);
            first.said().contains("started (epoch")
        });
        assert_eq!(arena.records("coordinator_started"), round, "the one that was stopped, once");
        assert!(signal(winner, Signal::KILL));
        first.end();
    }
    check_ledger(&arena);
}

/// A coordinator under strace, which stops it when it has made this call on this file of `.swarm` for the first time.
fn start_and_stop_at(arena: &Arena, file: &str, call: &str) -> Running {
    let swarm = arena.command(&["run", "--coordinate", "--agent", "script", "--mode", "autopilot"]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-b", "execve", "-o", "/dev/null", "-P"]);
    strace.arg(arena.root.join(".swarm").join(file).canonicalize().expect("it is there"));
    strace.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:signal=STOP:when=1")]);
    strace.arg(swarm.get_program()).args(swarm.get_args());
    for (name, value) in swarm.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    Running::of(strace)
}

/// When the old coordinator wakes up.
enum Wakes {
    /// While the new one is at work.
    Early,
    /// When the new one has done everything, the agents of the old one included.
    Late,
}

fn check_sleeper(wakes: Wakes) {
    let arena = arena_with(json!({ "agent": "script" }));
    let go = arena.path("go");
    let script = format!(
        "write a.txt a\ncommit feat: a\nwait-for {}\nwrite b.txt b\ncommit feat: b\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let mut old = arena.start(&[]);
    old.until("is working");
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    let sleeper = old.coordinator();
    send("STOP", sleeper);
    // As `git clean -fdx` does, or a person who takes the swarm for dead.
    for lock in ["owner.lock", "door.lock"] {
        std::fs::remove_file(arena.root.join(".swarm/run").join(lock)).expect("removed");
    }
    let mut new = arena.start(&[]);
    new.until("epoch 2");
    let wakes_late = matches!(wakes, Wakes::Late);
    let mut old = Some(old);
    let mut wake = || {
        let old = old.take().expect("once");
        send("CONT", sleeper);
        let (code, said) = old.end();
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("no longer owns the ledger") && said.contains("owner.lock"), "{said}");
    };
    if !wakes_late {
        wake();
    }
    std::fs::write(&go, "").expect("the gate opens");
    let (code, said) = new.end();
    assert_eq!(code, 0, "{said}");
    if wakes_late {
        wake();
    }
    assert_eq!(arena.starts("1.1"), 1, "its daemon went over to the new one: {said}");
    assert_eq!((arena.commits("main", "feat: a"), arena.commits("main", "feat: b")), (1, 1));
    check_ledger(&arena);
    arena.assert_tidy();
}

#[test]
fn a_coordinator_that_wakes_up_beside_a_new_one_ends_without_a_word_in_the_ledger() {
    check_sleeper(Wakes::Early);
}

#[test]
fn a_coordinator_that_sleeps_loses_its_agents_to_the_new_one_and_ends_when_it_wakes_up() {
    check_sleeper(Wakes::Late);
}

/// No record of an older coordinator stands behind one of a newer, and each epoch was begun once.
fn check_ledger(arena: &Arena) {
    let text = std::fs::read_to_string(arena.ledger()).expect("a ledger");
    let mut epoch = 0;
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        let of = record["epoch"].as_u64().expect("an epoch");
        assert!(of >= epoch, "an older coordinator wrote: {line}");
        let begins = record["type"] == "coordinator_started";
        assert_eq!(begins, of > epoch, "each epoch begins with its coordinator: {line}");
        epoch = of;
    }
    arena.ok(&["plan", "verify"]);
}
