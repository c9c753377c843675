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
