//! A coordinator that is there and never answers.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use crate::arena::Arena;

/// It is called silent after eight seconds; a command that asks twice needs sixteen.
const ASKS_ONCE: Duration = Duration::from_secs(14);

#[test]
fn a_command_beside_a_coordinator_that_hangs_asks_once_whether_it_is_there() {
    let arena = Arena::new("{}");
    arena.plan(&[("1.1", &[], "complete".into())]);
    let run = arena.root.join(".swarm/run");
    std::fs::create_dir_all(&run).expect("a folder");
    // It takes connections and reads nothing of them.
    let hangs = UnixListener::bind(run.join("coordinator.sock")).expect("a socket");
    for (args, code) in [(["status"], 0), (["stop"], 4)] {
        let began = Instant::now();
        let out = arena.swarm(&args);
        let took = began.elapsed();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(took < ASKS_ONCE, "{args:?} took {took:?}: {said}");
        assert!(said.contains("has not answered for 7 s"), "{args:?}: {said}");
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
    }
    drop(hangs);
    // Nothing has ever run here.
    arena.is_judged();
}
