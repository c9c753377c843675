//! F1, F2, F4: the coordinator dies, the one that watches it dies, the daemon dies with them.

use serde_json::json;

use super::hurried;
use crate::arena::{Arena, is_gone, send, wait_for};

/// Says each step, and waits in the middle until the file is there.
fn in_two_halves(arena: &Arena, id: &str) -> String {
    let go = arena.path(&format!("go-{id}"));
    format!(
        "print began {id}\nwrite {id}.txt half\ncommit feat: half of {id}\nprint waiting {id}\nwait-for {}\n\
         print goes on {id}\nappend {id}.txt whole\ncommit feat: whole {id}\ncomplete",
        go.display()
    )
}

fn open_gates(arena: &Arena, ids: &[&str]) {
    for id in ids {
        std::fs::write(arena.path(&format!("go-{id}")), "").expect("a file");
    }
}

#[test]
fn a_killed_coordinator_is_started_again_by_itself_and_no_agent_notices() {
    let arena = hurried(json!({}));
    let ids = ["1.1", "1.2"];
    arena.plan(&ids.map(|id| (id, &[][..], in_two_halves(&arena, id))));
    let mut run = arena.start(&["--agents", "2"]);
    wait_for("both agents wait", || ids.iter().all(|id| arena.printed().contains(&format!("waiting {id}"))));
    let first = run.coordinator();
    send("KILL", first);
    run.until("coordinator crashed (signal 9)");
    run.until("epoch 2");
    open_gates(&arena, &ids);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let printed = arena.printed();
    for id in ids {
        for line in ["began", "waiting", "goes on"] {
            assert_eq!(printed.matches(&format!("{line} {id}")).count(), 1, "each line once: {printed}");
        }
        assert_eq!(arena.starts(id), 1, "no agent was restarted: {said}");
        arena.assert_proven(id, "main");
    }
    arena.assert_tidy();
}

#[test]
fn without_the_one_that_watches_it_the_coordinator_goes_on() {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], in_two_halves(&arena, "1.1"))]);
    let mut run = arena.start(&[]);
    wait_for("the agent waits", || arena.printed().contains("waiting 1.1"));
    let coordinator = run.coordinator();
    run.child.kill().expect("it lives");
    run.child.wait().expect("it ends");
    assert!(!is_gone(coordinator), "the coordinator does not end with it");
    open_gates(&arena, &["1.1"]);
    wait_for("the coordinator has ended by itself", || is_gone(coordinator));
    arena.assert_proven("1.1", "main");
    assert_eq!(arena.starts("1.1"), 1);
    arena.assert_tidy();
}

#[test]
fn ctrl_c_while_the_coordinator_is_dead_still_stops_everything() {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], "print waiting 1.1\nhang".into())]);
    let mut run = arena.start(&[]);
    wait_for("the agent works", || arena.printed().contains("waiting 1.1"));
    send("KILL", run.coordinator());
    run.until("coordinator crashed");
    run.signal("INT");
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    arena.assert_nothing_runs();
    assert_eq!(arena.status_of("1.1"), "pending", "without a penalty: {said}");
}

#[test]
fn work_finished_while_nobody_listened_is_taken_over_and_not_done_again() {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], in_two_halves(&arena, "1.1"))]);
    let mut run = arena.start(&[]);
    wait_for("the agent waits", || arena.printed().contains("waiting 1.1"));
    run.kill_9();
    open_gates(&arena, &["1.1"]);
    // Its report lies in the outbox: nobody is there to take it.
    let outbox = arena.root.join(".swarm/run/daemons/r1.outbox.jsonl");
    wait_for("the report is on disk", || {
        std::fs::read_to_string(&outbox).is_ok_and(|text| text.contains("complete"))
    });
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.printed().matches("goes on 1.1").count(), 1, "done once");
    assert_eq!(arena.recorded("work_submitted"), 1, "told once");
    assert_eq!(arena.starts("1.1"), 1);
    arena.assert_tidy();
}

#[test]
fn an_orphan_is_requeued_in_its_worktree_with_a_word_about_it() {
    let arena = hurried(json!({}));
    let go = arena.path("go");
    let script = format!(
        "on-attempt 1: write half.txt half\non-attempt 1: commit feat: half\non-attempt 1: write rest.txt rest\n\
         on-attempt 1: print waiting 1.1\non-attempt 1: hang\n\
         print second go\nwait-for {}\nsh test -f half.txt || exit 1\ncommit feat: it\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    wait_for("the agent works", || arena.printed().contains("waiting 1.1"));
    let record = std::fs::read_to_string(arena.root.join(".swarm/run/daemons/r1.json")).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    run.kill_9();
    send("KILL", u32::try_from(record["pid"].as_u64().expect("a pid")).expect("a pid"));
    let run = arena.start(&[]);
    wait_for("it is tried again", || arena.printed().contains("second go"));
    let prompt = arena.prompt_of("r2");
    // Nobody was there to write it down: it is what git says afterwards.
    for words in ["## Recovery Context", "- Files modified: half.txt, rest.txt", "\"feat: half\""] {
        assert!(prompt.contains(words), "{words:?} is missing:\n{prompt}");
    }
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(1)), "{view}");
    assert!(view["audit"].to_string().contains("crash_recovery"), "{view}");
    assert!(arena.git(&["ls-tree", "--name-only", "main"]).contains("half.txt"), "the same worktree");
    arena.assert_tidy();
}

/// The coordinator was killed; the one that watches it is about to start it again, or is killed too.
fn check_stop(name: &str, before: impl FnOnce(&mut crate::arena::Running)) {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], "write half.txt half\nprint waiting 1.1\nhang".into())]);
    let mut run = arena.start(&[]);
    wait_for("the agent works", || arena.printed().contains("waiting 1.1"));
    before(&mut run);
    arena.ok(&["stop", "--dry-run"]);
    let out = arena.swarm(&["stop"]);
    let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    assert!(out.status.success(), "{name}: {said}");
    // From here on nothing may start any more: what runs at this moment is all there is.
    let left = arena.processes();
    assert!(left.is_empty(), "{name}: {left:?}\n{said}");
    assert_eq!(arena.status_of("1.1"), "pending", "{name}: {said}");
    assert_eq!(arena.shown("1.1")["retries"], 0, "{name}");
    let saved = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
    assert!(!saved.trim().is_empty(), "{name}: the work is saved");
    run.kill_9();
    arena.assert_nothing_runs();
}

#[test]
fn stop_while_a_killed_coordinator_is_about_to_be_started_again_stops_the_swarm() {
    check_stop("waiting to start it again", |run| {
        send("KILL", run.coordinator());
        run.until("coordinator crashed");
    });
}

#[test]
fn stop_right_after_the_coordinator_was_killed_stops_the_swarm() {
    check_stop("just killed", |run| send("KILL", run.coordinator()));
}

#[test]
fn stop_when_coordinator_and_watcher_were_killed_brings_the_agents_to_rest() {
    check_stop("both killed", |run| run.kill_9());
}

#[test]
fn stop_of_a_swarm_that_works_ends_coordinator_and_watcher() {
    check_stop("at work", |_| {});
}

#[test]
fn a_swarm_that_is_paused_with_every_task_done_ends_and_stays_paused() {
    let arena = hurried(json!({}));
    let go = arena.path("go");
    let script =
        format!("print waiting 1.1\nwait-for {}\nwrite a.txt a\ncommit feat: a\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    wait_for("the agent works", || arena.printed().contains("waiting 1.1"));
    let coordinator = run.coordinator();
    arena.ok(&["pause"]);
    arena.ok(&["task", "cancel", "1.1"]);
    wait_for("it has ended by itself", || is_gone(coordinator) || run.for_a_while(std::time::Duration::ZERO));
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.json(&["status"])["paused"], json!(["user"]), "{said}");
}
