//! Many commands at once, coordinators coming and going in the middle: one chain, every task, and no error shown to
//! anyone.

mod world;

use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use swarm_engine::paths::Paths;
use world::{World, dense_chain};

const PROCESSES: usize = 16;

/// The heavy form of the tests takes more.
fn tasks_each() -> usize {
    if std::env::var("SWARM_TRIALS").is_ok_and(|trials| trials == "full") { 100 } else { 25 }
}

fn all() -> usize {
    PROCESSES * tasks_each()
}

fn planned() -> World {
    let world = World::new();
    world.file("plan.md", "# Goal\n\n- [ ] 1.1 One\n");
    world.swarm(&["plan", "save", "plan.md"]).good();
    world
}

#[test]
fn sixteen_processes_add_tasks_while_coordinators_come_and_go() {
    let world = planned();
    // A paused coordinator stays and starts nothing, so that only the ledger is fought for.
    world.swarm(&["pause"]).good();
    let (added, shown) = (AtomicUsize::new(0), Mutex::new(vec![]));
    std::thread::scope(|threads| {
        for process in 0..PROCESSES {
            let (world, added, shown) = (&world, &added, &shown);
            threads.spawn(move || {
                for number in 0..tasks_each() {
                    if let Some(error) = add(world, &format!("p{process}-{number}")) {
                        shown.lock().expect("no panic").push(error);
                    }
                    added.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        threads.spawn(|| coordinators_come_and_go(&world, &added));
    });
    let shown = shown.into_inner().expect("no panic");
    assert!(shown.is_empty(), "{} errors, the first: {}", shown.len(), shown[0]);
    let rows = world.swarm(&["--json", "task", "list"]).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(all() + 1));
    assert!(dense_chain(&world.ledger()) > all() as u64);
    world.swarm(&["plan", "verify"]).good();
}

/// Adds one task. Gives what a person would have seen of an error.
fn add(world: &World, id: &str) -> Option<String> {
    let ran = world.swarm(&["task", "add", "Another", "--id", id]);
    // A coordinator that was killed in the middle of a write leaves a torn batch, which is told and no error.
    let told = ran.err.lines().all(|line| line.starts_with("Note: "));
    (ran.code != Some(0) || !told).then(|| format!("{id}: {:?} {}{}", ran.code, ran.out, ran.err))
}

/// Starts coordinators until all is added: every second one is killed, the others are asked to leave.
fn coordinators_come_and_go(world: &World, added: &AtomicUsize) {
    let mut epochs = 0;
    // The first one arrives in the middle.
    until(|| added.load(Ordering::SeqCst) >= all() / 8);
    while added.load(Ordering::SeqCst) < all() {
        epochs += 1;
        let mut coordinator = starts(world);
        let goal = (added.load(Ordering::SeqCst) + all() / 8).min(all());
        until(|| {
            added.load(Ordering::SeqCst) >= goal || coordinator.try_wait().is_ok_and(|ended| ended.is_some())
        });
        let signal = if epochs % 2 == 1 { Signal::KILL } else { Signal::INT };
        let pid = Pid::from_child(&coordinator);
        kill_process(pid, signal).expect("it is there until it is waited for");
        until(|| coordinator.try_wait().is_ok_and(|ended| ended.is_some()));
    }
    assert!(epochs >= 2, "a coordinator came only {epochs} times");
}

/// A coordinator that has taken the ledger.
fn starts(world: &World) -> Child {
    let socket = Paths::new(&world.repo, &world.repo.join(".git")).socket;
    let coordinator = world
        .program(world::SWARM)
        // Itself, without the watcher that would start another one.
        .args(["run", "--coordinate", "--agent", "script", "--mode", "autopilot", "--review", "none"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let coordinator = coordinator.expect("it starts");
    until(|| std::os::unix::net::UnixStream::connect(&socket).is_ok());
    coordinator
}

/// Waits for a condition that another process makes true.
#[allow(
    clippy::disallowed_methods,
    reason = "nothing announces what another process has done; the wait has a limit"
)]
fn until(mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(300), "waited too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn numbers_that_are_chosen_at_once_are_never_the_same() {
    let world = planned();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..5 {
                    world.swarm(&["task", "add", "Another"]).good();
                }
            });
        }
    });
    let rows = world.swarm(&["--json", "task", "list"]).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(21));
    assert!(rows.as_array().is_some_and(|rows| rows.iter().any(|row| row["id"] == "1.21")));
}
