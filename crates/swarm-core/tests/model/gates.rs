//! Every combination of gates: whatever stands between a task and trunk together, there is a way.
//!
//! The cuts of `main.rs` look at all states of a few combinations; here are a few states of all of them, nearest first. An
//! ordinary run of the tests takes a handful; `SWARM_TRIALS=full` takes every one.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::explore::{Alphabet, Model};
use crate::lifecycle::Walk;
use crate::operations::Cut;
use crate::{AT_ONCE, NOTHING, ONE, look_at};

/// States of each combination, nearest first, where all of them are looked at.
const STATES_OF_EACH: usize = 3_000;

/// The same in an ordinary run, and of how many combinations one is taken.
const STATES_OF_SOME: usize = 60;
const ONE_OF: usize = 40;

const REVIEWS: [(&str, Alphabet); 5] = [
    ("not reviewed", NOTHING),
    ("reviewed by commands", Alphabet { reviews: true, ..NOTHING }),
    ("reviewed by an agent", Alphabet { agent_reviews: true, ..NOTHING }),
    ("reviewed by a person", Alphabet { people_review: true, ..NOTHING }),
    ("reviewed by a council", Alphabet { council: true, ..NOTHING }),
];

/// Turns one gate, or one thing that happens to it, on.
type Switch = fn(&mut Alphabet);

/// What may be said with each kind of review: one bit each.
const SWITCHES: [(&str, Switch); 6] = [
    ("without checks", |alphabet| alphabet.no_checks = true),
    ("without verification", |alphabet| alphabet.no_verification = true),
    ("scanned", |alphabet| alphabet.scans = true),
    ("protected files", |alphabet| alphabet.protected = true),
    ("waivers", |alphabet| alphabet.waivers = true),
    ("late changes", |alphabet| alphabet.late_changes = true),
];

fn combinations() -> Vec<(String, Alphabet)> {
    let mut all = Vec::new();
    for (review, of_review) in REVIEWS {
        for bits in 0..1_usize << SWITCHES.len() {
            let (mut name, mut alphabet) = (review.to_owned(), of_review);
            for (_, (word, switch)) in SWITCHES.iter().enumerate().filter(|(n, _)| bits & (1 << n) != 0) {
                name += &format!(", {word}");
                switch(&mut alphabet);
            }
            all.push((name, alphabet));
        }
    }
    all
}

#[test]
fn every_combination_of_gates_has_a_way_to_done_without_a_waiver() {
    let full = std::env::var("SWARM_TRIALS").is_ok_and(|value| value == "full");
    let all = combinations();
    assert_eq!(all.len(), 320);
    let (every, most) = if full { (1, STATES_OF_EACH) } else { (ONE_OF, STATES_OF_SOME) };
    let chosen: Vec<&(String, Alphabet)> = all.iter().step_by(every).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        let look = || {
            while let Some((name, alphabet)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                let model = Model { plan: ONE, alphabet: *alphabet, patient: false };
                println!("{name}");
                let seen = look_at(&model, most, &mut Walk::default());
                let cut = if seen.complete { "all" } else { "the nearest" };
                println!("{name}: {cut} {} states, {} inputs", seen.states, seen.inputs);
            }
        };
        (0..AT_ONCE).for_each(|_| drop(threads.spawn(look)));
    });
}

#[test]
fn a_rollback_that_an_agent_is_asked_about_ends_whatever_is_said() {
    let full = std::env::var("SWARM_TRIALS").is_ok_and(|value| value == "full");
    let (patience, most): (&[bool], usize) =
        if full { (&[false, true], crate::STATES_MAX) } else { (&[false], 800) };
    for patient in patience {
        let alphabet = Alphabet { operations: Some(Cut::Resolved), ..NOTHING };
        let model = Model { plan: ONE, alphabet, patient: *patient };
        let seen = look_at(&model, most, &mut Walk::default());
        println!("{} states, {} inputs", seen.states, seen.inputs);
        assert!(seen.complete == full && seen.states > 500, "{} states", seen.states);
    }
}
