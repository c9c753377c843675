//! Stories of people and agents on one repository, by chance of a seed: the real binary, real git, real processes. Each
//! story ends in rest and is judged by git alone (`../oracle`).
//!
//! `SWARM_STORY_SEED=N` plays one story and says what happens, `SWARM_STORIES=N` plays so many, and `cargo xtask torture
//! --only stories` plays 500. The same seed makes the same choices; what meets what at which moment is still up to the machine.
//! A story that fails is printed as a script of commands that a person can paste.

#[allow(dead_code, reason = "each binary of tests uses its own part of the arena")]
#[path = "../run/arena.rs"]
mod arena;
#[allow(dead_code, reason = "each binary of tests uses its own part of the ground")]
#[path = "../trials/ground.rs"]
mod ground;
#[path = "../torture/seeded.rs"]
mod seeded;
#[allow(dead_code, reason = "each binary of tests uses its own part of the victims")]
#[path = "../torture/victims.rs"]
mod victims;
mod story;
mod plan;
mod operations;
mod people;
mod weather;
mod play;

use std::sync::atomic::{AtomicUsize, Ordering};

/// In the ordinary tests.
const STORIES: u64 = 20;
const FIRST_SEED: u64 = 1;
/// Played at the same time: most of a story is waiting.
const AT_ONCE: usize = 4;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn stories_of_people_and_agents_end_in_rest_and_what_is_said_then_is_true() {
    let (first, many) = match number("SWARM_STORY_SEED") {
        Some(seed) => (seed, number("SWARM_STORIES").unwrap_or(1)),
        None => (FIRST_SEED, number("SWARM_STORIES").unwrap_or(STORIES)),
    };
    let next = AtomicUsize::new(0);
    let failed: Vec<String> = std::thread::scope(|threads| {
        let play = || {
            let mut failed = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed) as u64;
                if at >= many {
                    return failed;
                }
                let wrong = play::play(first + at);
                wrong.iter().for_each(|story| println!("{story}\n"));
                failed.extend(wrong.map(|_| (first + at).to_string()));
            }
        };
        let all: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(play)).collect();
        all.into_iter().flat_map(|one| one.join().expect("a story does not panic")).collect()
    });
    let again = failed.join(", SWARM_STORY_SEED=");
    assert!(failed.is_empty(), "{} of {many} stories failed: SWARM_STORY_SEED={again}", failed.len());
}
