//! Seeds that once failed, kept with what they found.

use swarm_sim::disk::ledger::run::run_seed;

fn check(seed: u64) {
    if let Err(failure) = run_seed(seed) {
        panic!("{failure}");
    }
}

/// A transient read error behind an accepted base gave epoch 0, so an older coordinator could write.
#[test]
fn ledger_seed_763() {
    check(763);
}

/// The name of a ledger whose maker was killed before the directory was synced went with the power.
#[test]
fn ledger_seed_483() {
    check(483);
}

/// A copy that could not be opened once let a repairable ledger be cut.
#[test]
fn ledger_seed_6672() {
    check(6672);
}

/// A repair whose sync had failed was believed from the cache.
#[test]
fn ledger_seed_8100() {
    check(8100);
}

/// A damaged first record beside a copy that could not be opened once was called beyond repair.
#[test]
fn ledger_seed_18859() {
    check(18859);
}
