//! Thousands of stories of the core in a hostile world.

use std::time::Instant;

use swarm_sim::world::{Planted, Sweep, find_planted, run, sweep, weekend};

/// So many meet nearly every combination of stage, fault and seam: about two thousand.
const SEEDS_FOR_EVERY_CELL: u64 = 10_000;
/// Some combinations are so rare that chance leaves a few of them out.
const EMPTY_MAX: usize = 40;

/// Seeds of one test run; `SWARM_SEEDS` asks for more or fewer, the heavy form of the tests for all.
fn seeds() -> u64 {
    let asked = std::env::var("SWARM_SEEDS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(if is_heavy() { SEEDS_FOR_EVERY_CELL } else { 1_500 })
}

fn is_heavy() -> bool {
    std::env::var("SWARM_TRIALS").is_ok_and(|trials| trials == "full")
}

#[test]
fn thousands_of_stories_end_with_everything_done_and_hardly_an_empty_cell() {
    let began = Instant::now();
    let first = told(1, seeds());
    println!("{}", first.table);
    println!(
        "{} seeds, {} inputs (least {}), {} crashes (least {}), {} records, {} tasks done, {:.1} s",
        first.seeds,
        first.inputs,
        first.inputs_least,
        first.crashes,
        first.crashes_least,
        first.records,
        first.tasks_done,
        began.elapsed().as_secs_f64()
    );
    assert_eq!(first.seeds, seeds());
    assert!(first.inputs_least >= 200, "a story had only {} inputs", first.inputs_least);
    assert!(first.crashes_least >= 3, "a story had only {} crashes", first.crashes_least);
    if seeds() >= SEEDS_FOR_EVERY_CELL {
        let empty = first.table.empty_cells();
        assert!(empty.len() <= EMPTY_MAX, "{} combinations were never met: {empty:?}", empty.len());
    }
}

/// Stories of so many seeds, all of which hold.
fn told(from: u64, count: u64) -> Sweep {
    let told = sweep(from, count, None);
    if let Some(failure) = &told.failure {
        panic!("{failure}");
    }
    told
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for seed in 1..=40 {
        let (first, second) = (run(seed, None), run(seed, None));
        let (first, second) = (first.expect("it holds"), second.expect("it holds"));
        assert_eq!(first, second, "seed {seed}");
    }
    assert_ne!(run(1, None).expect("it holds").trace, run(2, None).expect("it holds").trace);
}

#[test]
fn every_planted_bug_is_found_within_two_thousand_seeds() {
    for planted in Planted::ALL {
        if matches!(planted, Planted::Core(_)) && !cfg!(debug_assertions) {
            continue; // the core's switches are gone from release builds
        }
        let failure = find_planted(planted, 2_000);
        let failure = failure.unwrap_or_else(|| panic!("{} was not found", planted.name()));
        println!("{:<32} seed {:>4}: {}", planted.name(), failure.seed, failure.rule);
    }
}

/// F6, F12: outages, used-up quotas, an expired key, a closed lid, a full disk, and nobody there from Friday to Monday.
#[test]
fn a_swarm_that_is_left_alone_for_a_weekend_is_done_on_monday_and_has_asked_once_for_a_key() {
    for seed in 1..=5 {
        let told = weekend(seed).unwrap_or_else(|failure| panic!("{failure}"));
        println!("seed {seed}: {told:?}");
        assert_eq!((told.done, told.degraded, told.retries), (40, 0, 0), "{told:?}");
        assert!(told.asked.len() == 1 && told.asked[0].contains("setup"), "one word about the key: {told:?}");
        // Whoever was at work when the weather came lost that iteration; nobody else was sent out into it.
        let lost = told.attempts - 40;
        assert!(lost <= 4 * 6 + 6, "{lost} attempts came to nothing: {told:?}");
        assert!(told.probes <= 250, "{told:?}");
    }
}
