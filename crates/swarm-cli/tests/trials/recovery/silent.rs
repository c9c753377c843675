//! A coordinator that is there and does not move: every command says so within seconds, and all goes on afterwards.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::hurried;
use crate::arena::{Arena, Running, send};
use serde_json::json;

/// Far below the two minutes that an answer may take, far above what a loaded machine needs.
const SECONDS: Duration = Duration::from_secs(20);

/// An agent that has committed and goes on when the file is there.
fn at_work() -> (Arena, Running, PathBuf) {
    let arena = hurried(json!({}));
    let go = arena.path("go");
    let script = format!("write a.txt a\ncommit feat: a\nwait-for {}\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("is working");
    (arena, run, go)
}

#[test]
fn a_coordinator_that_is_stopped_by_a_signal_is_named_by_every_command_and_goes_on_afterwards() {
    let (arena, run, go) = at_work();
    let pid = run.coordinator();
    send("STOP", pid);
    for command in [&["task", "add", "another"][..], &["pause"], &["status"], &["doctor"], &["attention"]] {
        let began = Instant::now();
        let out = arena.swarm(command);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(began.elapsed() < SECONDS, "{command:?} took {:?}: {said}", began.elapsed());
        assert!(said.contains(&format!("kill -CONT {pid}")), "{command:?}: {said}");
        let looks = ["status", "doctor", "attention"].contains(&command[0]);
        assert!(looks || out.status.code() == Some(4), "{command:?}: {:?} {said}", out.status);
    }
    // A stop lets it go on; the pause that it was asked for may have reached it.
    arena.ok(&["stop"]);
    run.end();
    arena.swarm(&["resume"]);
    std::fs::write(go, "").expect("a file");
    let (code, said) = arena.start(&[]).end();
    assert!([0, 1].contains(&code), "{said}");
    assert_eq!(arena.status_of("1.1"), "done", "{said}");
    assert_eq!(arena.commits("main", "feat: a"), 1);
}

#[test]
fn a_socket_that_somebody_removed_is_there_again_and_commands_go_through() {
    let (arena, run, go) = at_work();
    let socket = arena.root.join(".swarm/run/coordinator.sock");
    std::fs::remove_file(&socket).expect("it was there");
    let began = Instant::now();
    arena.ok(&["pause"]);
    arena.ok(&["resume"]);
    assert!(began.elapsed() < SECONDS, "{:?}", began.elapsed());
    assert!(socket.exists());
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(!socket.exists(), "it goes with the coordinator");
}
