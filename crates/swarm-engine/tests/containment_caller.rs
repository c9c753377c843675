//! A process inside an attempt is recognised, whatever it did to its environment and its parents.

use crate::bench;

use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

use bench::{Bench, host, nets};
use serde_json::json;
use swarm_process::caller::{Inside, Peer, SeenBy, attempt_of};
use swarm_process::containment::end_run;
use swarm_process::{boot_id, start_time_of};
use swarm_protocol::channel::{DaemonRecord, RunKind};
use swarm_protocol::ids::RunId;

fn record(pid: u32, nonce: &str) -> DaemonRecord {
    DaemonRecord {
        run: RunId::nth(7),
        kind: RunKind::Work,
        host: "here".into(),
        pid,
        start_time: start_time_of(pid).expect("it lives"),
        boot_id: boot_id().expect("booted"),
        nonce: nonce.into(),
        version: "0".into(),
        ledger: None,
    }
}

/// Who calls when `text` is run in the net; `CALL` in it makes the call.
fn check(text: &str, see: impl Fn(&str, Option<Inside>, &str)) {
    for net in nets() {
        let bench = Bench::new();
        let socket = bench.path().join("s");
        let listener = UnixListener::bind(&socket).expect("it listens");
        let call = format!("{} connect {}", host().display(), socket.display());
        let text = text.replace("CALL", &call).replace("MARK", &bench.mark);
        let mut daemon = bench.start(net, &["sh", "-c", &text], json!({}));
        let (stream, _) = listener.accept().expect("a call");
        let pid = rustix::net::sockopt::socket_peercred(&stream).expect("a peer").pid;
        let peer = Peer { pid: pid.as_raw_nonzero().get().cast_unsigned() };
        see(net, attempt_of(peer, &[record(daemon.id(), &bench.nonce)]), &bench.nonce);
        daemon.kill().expect("killed");
        daemon.wait().expect("reaped");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(end_run(&bench.nonce, Duration::ZERO));
        drop(stream);
    }
}

fn is_inside(net: &str, inside: Option<Inside>, nonce: &str) {
    let inside = inside.unwrap_or_else(|| panic!("{net}: taken for somebody outside"));
    assert_eq!(inside.run, Some(RunId::nth(7)), "{net}: {inside:?}");
    assert_eq!(inside.nonce.as_deref(), Some(nonce), "{net}: {inside:?}");
}

#[test]
fn a_program_and_its_children_are_inside() {
    check("CALL", is_inside);
    check("sh -c 'CALL; true'", is_inside);
}

#[test]
fn an_orphan_in_a_session_of_its_own_with_an_empty_environment_is_inside() {
    check("(setsid env -i CALL &) ; exec sleep MARK", |net, inside, nonce| {
        let expected = match net {
            "cgroup" => SeenBy::Cgroup,
            // Orphans come home to the guardian or to the first process of the namespace, and these carry the mark.
            _ => SeenBy::Nonce,
        };
        assert_eq!(inside.as_ref().map(|inside| inside.seen_by), Some(expected), "{net}");
        is_inside(net, inside, nonce);
    });
}

#[test]
fn a_caller_beside_the_daemons_is_outside() {
    let bench = Bench::new();
    let socket = bench.path().join("s");
    let listener = UnixListener::bind(&socket).expect("it listens");
    let mut beside = Command::new(host()).arg("connect").arg(&socket).spawn().expect("started");
    let (stream, _) = listener.accept().expect("a call");
    let mut daemon = Command::new("sleep").arg(&bench.mark).spawn().expect("started");
    let known = [record(daemon.id(), &bench.nonce)];
    assert_eq!(attempt_of(Peer { pid: beside.id() }, &known), None);
    // A daemon itself is ours.
    assert_eq!(attempt_of(Peer { pid: daemon.id() }, &known), None);
    drop(stream);
    beside.wait().expect("reaped");
    daemon.kill().expect("killed");
    daemon.wait().expect("reaped");
    let gone = attempt_of(Peer { pid: daemon.id() }, &known);
    assert_eq!(gone.map(|inside| inside.seen_by), Some(SeenBy::Vanished));
}

#[test]
fn the_command_line_knows_by_itself_that_it_is_inside() {
    for net in nets() {
        let bench = Bench::new();
        let told = bench.run(net, &[host().to_str().expect("UTF-8"), "inside"], json!({}));
        let said = told["heard"]["kept"][0].as_str().expect("a word");
        assert!(said.contains(&bench.nonce), "{net}: {said}");
    }
    let out = Command::new(host()).arg("inside").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "None");
}
