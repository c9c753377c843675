//! A real disk of our own is filled to its last byte at one step of a swarm's life. Whoever asks is answered, a stop comes to
//! its end, what was answered is there, and with room again all work comes to its end.
//!
//! Two steps on ext4; `SWARM_TRIALS=full` takes every step, on ext4 and on XFS.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::arena::{Arena, Running, holds_within, wait_for};
use crate::ground::{has, scaled};
use crate::loop_disk::{Filler, Kind, LoopDisk, possible};
use crate::namespace::{Standing, enter, not_proven};

/// Above every limit at which the swarm begins to save room; sparse.
const DISK_MB: u64 = 2048;

const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// So long the disk stays full after a step.
const FULL_FOR: Duration = Duration::from_secs(1);

/// From the first room to the end of everything.
const END_WITHIN: Duration = Duration::from_secs(60);

/// The record after which there is not a byte left, and whether the person stops the swarm then.
const STEPS: &[(&str, bool)] = &[
    ("work_submitted", false),
    ("merge_built", true),
    ("agent_spawned", false),
    ("coordinator_started", false),
    ("task_claimed", false),
    ("workspace_ready", false),
    ("agent_spawned", true),
    ("checks_passed", false),
    ("merge_built", false),
    ("verification_started", false),
    ("verification_passed", false),
    ("merge_completed", false),
    ("worktree_removed", false),
    ("checkpoint_due", false),
];

fn life(disk: &LoopDisk) -> Arena {
    let place = tempfile::tempdir_in(disk.mount_point()).expect("a folder");
    let config = json!({
        "mode": "autopilot",
        "verify": { "commands": ["test -d work"] },
        "recovery": { "maxRetries": 2, "backoffMax": "1s" },
        "stop": { "grace": "1s", "drain": "1s" },
        "disk": { "low": 16, "enough": 24 },
    });
    let arena = Arena::inside(place, &config.to_string());
    let script = |id: &str| {
        format!(
            "write work/{id}-a.txt {id}\ncommit feat: {id} a\nsleep 300\n\
             write work/{id}-b.txt {id}\ncommit feat: {id} b\ncomplete"
        )
    };
    arena.plan(&[("1.1", &[], script("1.1")), ("1.2", &[], script("1.2")), ("1.3", &["1.1"], script("1.3"))]);
    arena
}

fn fill_after(disk: &LoopDisk, step: &str, stops: bool) {
    let arena = life(disk);
    let run = arena.start(&["--agents", "2"]);
    wait_for(step, || arena.records(step) > 0);
    let full = disk.fill();
    let kept = arena.json(&["plan", "history"]);
    holds_within(FULL_FOR, || false);
    for command in ["status", "doctor", "attention"] {
        let began = Instant::now();
        let out = arena.swarm(&[command]);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(began.elapsed() < ANSWER_WITHIN, "{command} took {:?}: {said}", began.elapsed());
        assert!(matches!(out.status.code(), Some(0 | 1)), "after {step}, {command}: {said}");
        if command == "doctor" {
            has(&said, &["disk space"]);
        }
    }
    let mut said =
        if stops { stopped_without_room(&arena, run, full) } else { wait_with_room(run, full, &arena) };
    // What could not be saved lies in its worktree; the next run goes on with all of it.
    let (code, again) = arena.start(&["--agents", "2"]).end();
    said += &again;
    assert_eq!(code, 0, "after {step}: {said}");
    arena.assert_all_done();
    for id in ["1.1", "1.2", "1.3"] {
        for part in ["a", "b"] {
            let file = format!("work/{id}-{part}.txt");
            let commits = arena.git(&["log", "--format=%h", "main", "--", &file]);
            assert_eq!(commits.lines().count(), 1, "{file} is on trunk once, full after {step}: {said}");
        }
    }
    let now = std::fs::read_to_string(arena.ledger()).expect("a ledger");
    for record in kept.as_array().expect("a list") {
        let hash = record["hash"].as_str().expect("a hash");
        assert!(now.contains(hash), "{record} was there when the disk was full");
    }
    if arena.records("worktree_kept") > 0 {
        arena.ok(&["worktree", "cleanup", "--all"]);
    }
    arena.assert_tidy();
}

fn stopped_without_room(arena: &Arena, run: Running, full: Filler) -> String {
    let began = Instant::now();
    let out = arena.swarm(&["stop"]);
    let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    assert!(began.elapsed() < ANSWER_WITHIN * 3, "the stop took {:?}: {said}", began.elapsed());
    let (_, run) = run.end();
    wait_for("nobody is left", || arena.processes().is_empty());
    drop(full);
    format!("{run}\n{said}\n")
}

fn wait_with_room(mut run: Running, full: Filler, arena: &Arena) -> String {
    drop(full);
    if !run.for_a_while(END_WITHIN) {
        // What met the full disk too often waits for the person's word.
        for reason in ["errors", "setup"] {
            arena.swarm(&["resume", "--reason", reason]);
        }
        for task in arena.tasks() {
            if matches!(task["status"].as_str(), Some("blocked" | "failed" | "timeout")) {
                panic!("a full disk is nobody's fault: {task}");
            }
        }
        assert!(run.for_a_while(END_WITHIN), "it does not go on: {}", arena.ok(&["status"]));
    }
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    said
}

fn check(kind: Kind, test: &str) {
    if let Err(why) = possible(kind) {
        return not_proven(test, &why);
    }
    match enter(test) {
        Standing::Done => {}
        Standing::NotHere(why) => not_proven(test, &why),
        Standing::Inside => {
            let disk = LoopDisk::new(kind, DISK_MB);
            let many = usize::try_from(scaled(2, STEPS.len() as u64)).expect("small");
            STEPS[..many].iter().for_each(|(step, stops)| fill_after(&disk, step, *stops));
        }
    }
}

#[test]
fn an_ext4_that_is_filled_to_its_last_byte_at_a_step_loses_nothing_and_all_goes_on_with_room() {
    check(
        Kind::Ext4,
        "brim::an_ext4_that_is_filled_to_its_last_byte_at_a_step_loses_nothing_and_all_goes_on_with_room",
    );
}

#[test]
fn an_xfs_that_is_filled_to_its_last_byte_at_a_step_loses_nothing_and_all_goes_on_with_room() {
    if scaled(0, 1) > 0 {
        check(
            Kind::Xfs,
            "brim::an_xfs_that_is_filled_to_its_last_byte_at_a_step_loses_nothing_and_all_goes_on_with_room",
        );
    }
}
