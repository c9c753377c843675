//! A swarm of many agents in bad weather: whatever can be killed, stopped, cut or filled is, by chance of a seed, for as
//! long as asked; then everything is brought to its end and counted.
//!
//! `SWARM_TORTURE_SECS`, `SWARM_TORTURE_SEED` and `SWARM_TORTURE_AGENTS` change the numbers; `cargo xtask torture` sets them.

mod sky;
mod person;
mod keeper;
mod tormentor;
mod oracle;

use std::time::Duration;

use crate::loop_disk::{Kind, LoopDisk};
use crate::namespace::{Standing, enter, not_proven};
use sky::Sky;

/// Enough for about a hundred deeds on two cores.
const SECS: u64 = 45;
const SEED: u64 = 20_260_113;
const AGENTS: u64 = 16;

/// Sparse. Above every limit at which the swarm begins to save room.
const DISK_MB: u64 = 8 * 1024;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn sixteen_agents_in_a_storm_lose_nothing_do_nothing_twice_and_leave_nothing() {
    let test = "storm::sixteen_agents_in_a_storm_lose_nothing_do_nothing_twice_and_leave_nothing";
    let disk = match enter(test) {
        Standing::Done => return,
        Standing::Inside => Some(LoopDisk::new(Kind::Ext4, DISK_MB)),
        Standing::NotHere(why) => {
            not_proven("that a disk that fills up in the storm loses nothing", &why);
            None
        }
    };
    let seed = number("SWARM_TORTURE_SEED", SEED);
    let agents = number("SWARM_TORTURE_AGENTS", AGENTS);
    let time = Duration::from_secs(number("SWARM_TORTURE_SECS", SECS));
    println!("storm: seed {seed}, {agents} agents, {} s", time.as_secs());
    let sky = Sky::new(disk, seed, agents);
    std::thread::scope(|threads| {
        threads.spawn(|| sky.guard("keeper", || keeper::keep(&sky)));
        threads.spawn(|| sky.guard("person", || person::work(&sky)));
        threads.spawn(|| sky.guard("tormentor", || tormentor::torment(&sky, time)));
    });
    sky.assert_all_went_well();
    oracle::check(&sky);
}
