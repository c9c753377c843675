//! The bad weather itself.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::sky::Sky;
use crate::arena::holds_within;
use crate::seeded::Seeded;
use crate::victims::{Party, signal};

type Deed = fn(&Sky, &mut Seeded);

/// What may happen, and how often of a hundred times.
const DEEDS: &[(u64, Deed)] = &[
    (20, |sky, chance| kill(sky, chance, Party::Daemon)),
    (18, |sky, chance| kill(sky, chance, Party::Agent)),
    (22, |sky, chance| kill(sky, chance, Party::Git)),
    (12, |sky, chance| kill(sky, chance, Party::Coordinator)),
    (4, stop_coordinator),
    (12, stop_one),
    (3, suspend_all),
    (5, cut_socket),
    (4, fill_disk),
];

pub fn torment(sky: &Sky, time: Duration) {
    let mut chance = Seeded::new(sky.seed);
    let began = Instant::now();
    crate::arena::wait_for("the swarm works", || sky.arena.records("agent_spawned") > 0 || sky.is_lost());
    while began.elapsed() < time && !sky.is_lost() {
        holds_within(Duration::from_millis(chance.between(30, 400)), || sky.is_lost());
        let mut dice = chance.below(100);
        for (weight, deed) in DEEDS {
            if dice < *weight {
                deed(sky, &mut chance);
                break;
            }
            dice -= weight;
        }
    }
    sky.note("clear: the storm is over");
}

/// Looks for one of them for a moment: a git lives for milliseconds.
fn one_of(sky: &Sky, chance: &mut Seeded, party: Party) -> Option<u32> {
    let mut found = None;
    holds_within(Duration::from_millis(150), || {
        found = chance.one_of(&sky.arena.living(party)).copied();
        found.is_some()
    });
    found
}

fn kill(sky: &Sky, chance: &mut Seeded, party: Party) {
    if let Some(pid) = one_of(sky, chance, party)
        && signal(pid, Signal::KILL)
    {
        sky.note(&format!("killed:{party:?} {pid}"));
    }
}

/// Stopped for a while, as by a machine that swaps, or sleeps for some of its parties.
fn stop(sky: &Sky, pids: &[u32], time: Duration) {
    let send = |what| pids.iter().filter(|pid| signal(**pid, what)).count();
    send(Signal::STOP);
    holds_within(time, || sky.is_lost());
    send(Signal::CONT);
}

fn stop_one(sky: &Sky, chance: &mut Seeded) {
    let party = if chance.below(2) == 0 { Party::Daemon } else { Party::Agent };
    if let Some(pid) = one_of(sky, chance, party) {
        let time = Duration::from_millis(chance.between(100, 1500));
        sky.note(&format!("stopped:{party:?} {pid} for {time:?}"));
        stop(sky, &[pid], time);
    }
}

fn stop_coordinator(sky: &Sky, chance: &mut Seeded) {
    if let Some(pid) = one_of(sky, chance, Party::Coordinator) {
        let time = Duration::from_millis(chance.between(200, 3000));
        sky.note(&format!("stopped:Coordinator {pid} for {time:?}"));
        stop(sky, &[pid], time);
    }
}

/// Everybody at once, as when a lid is closed. The clocks of the kernel go on: for all parties they jump.
fn suspend_all(sky: &Sky, chance: &mut Seeded) {
    let parties = [Party::Coordinator, Party::Daemon, Party::Agent, Party::Git];
    let all: Vec<u32> = parties.into_iter().flat_map(|party| sky.arena.living(party)).collect();
    let time = Duration::from_millis(chance.between(500, 3000));
    sky.note(&format!("suspended {} processes for {time:?}", all.len()));
    stop(sky, &all, time);
}

/// Nobody reaches the coordinator by its socket for a while.
fn cut_socket(sky: &Sky, chance: &mut Seeded) {
    let socket = sky.arena.root.join(".swarm/run/coordinator.sock");
    let aside = socket.with_extension("aside");
    if std::fs::rename(&socket, &aside).is_err() {
        return;
    }
    let time = Duration::from_millis(chance.between(100, 2000));
    sky.note(&format!("cut the socket for {time:?}"));
    // Those that are connected lose their connection with their own end only: one daemon does.
    kill(sky, chance, Party::Daemon);
    holds_within(time, || sky.is_lost());
    // A new coordinator has made its own meanwhile: that one stays.
    if socket.exists() {
        let _ = std::fs::remove_file(&aside);
    } else {
        let _ = std::fs::rename(&aside, &socket);
    }
}

fn fill_disk(sky: &Sky, chance: &mut Seeded) {
    let Some(disk) = &sky.disk else { return };
    let full = disk.fill();
    let time = Duration::from_millis(chance.between(200, 2000));
    sky.note(&format!("filled the disk for {time:?}"));
    holds_within(time, || sky.is_lost());
    drop(full);
}
