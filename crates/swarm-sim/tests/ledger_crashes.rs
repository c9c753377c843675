//! The real ledger through thousands of seeds of crashes, faults and rot.

use swarm_sim::disk::ledger::{run::run_seed, tally::Tally};
use swarm_sim::disk::seeds::run_all;

/// The heavy form of the tests takes more.
fn seeds() -> u64 {
    if std::env::var("SWARM_TRIALS").is_ok_and(|trials| trials == "full") { 10_000 } else { 3_000 }
}

#[test]
fn thousands_of_seeds_of_crashes_lose_nothing_that_was_answered() {
    let tally = run_all(0, seeds(), 2, run_seed, Tally::default(), |all, outcome| all.add(&outcome.tally))
        .unwrap_or_else(|(_, failure)| panic!("{failure}"));
    println!("{tally}");
    let met = [
        "life ended by a kill",
        "life ended by a power cut",
        "fault: power cut",
        "fault: kill",
        "fault: EIO",
        "fault: read fails",
        "fault: ENOSPC",
        "fault: EROFS",
        "fault: EINTR",
        "fault: short write",
        "fault: sync fails, data dropped",
        "fault: sync fails, data kept",
        "fault: sync of a directory fails",
        "the disk filled up",
        "the device disagreed with the cache",
        "rot: the second copy",
        "rot: the ledger, copy intact",
        "rot: everything there is",
        "found: torn tail",
        "found: repaired from the copy",
        "found: restored from the copy",
        "found: copy rebuilt",
        "found: copy failed",
        "found: loss",
        "records lost to damage, and reported",
        "refused loudly: nothing left to go on from",
        "stale epoch refused",
        "writer: ended by an error",
        "writer: out of room",
        "writer: went on when there was room",
    ];
    assert_eq!(tally.missing(&met), [""; 0], "the simulator no longer meets these cases");
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..50 {
        let first = run_seed(seed).expect("the seed holds");
        let second = run_seed(seed).expect("the seed holds");
        assert_eq!(first, second, "seed {seed}");
    }
    assert_ne!(
        run_seed(1).expect("the seed holds").trace_hash,
        run_seed(2).expect("the seed holds").trace_hash
    );
}
