//! The model check: every state that one or two tasks can get into, and the way out of each.

mod explore;
mod gates;
mod hints;
mod lifecycle;
mod operations;
mod reports;
mod way_out;

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use explore::{Alphabet, Model, STATES_MAX, Seen, explore_edges};
use lifecycle::Walk;
use operations::Cut;
use way_out::Proven;

/// Models that are walked through at the same time.
const AT_ONCE: usize = 2;

/// What can be combined freely has more states than time; these cuts together say everything.
const MODELS: [(&str, Model); 25] = [
    (
        "one task, the swarm paused and stopped",
        Model { plan: ONE, alphabet: Alphabet { stops: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, the plan changed",
        Model { plan: ONE, alphabet: Alphabet { plan: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, gates waived",
        Model { plan: ONE, alphabet: Alphabet { waivers: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, executors that fail",
        Model { plan: ONE, alphabet: Alphabet { failing_executors: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, agent programs that fail",
        Model { plan: ONE, alphabet: Alphabet { failures: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, started and merged by hand",
        Model { plan: ONE, alphabet: Alphabet { by_hand: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, reviewed in rounds",
        Model { plan: ONE, alphabet: Alphabet { reviews: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, reviewed, gates waived",
        Model { plan: ONE, alphabet: Alphabet { reviews: true, waivers: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, reviewed by an agent in rounds",
        Model { plan: ONE, alphabet: Alphabet { agent_reviews: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, reviewed by a council of two at the same time",
        Model { plan: ONE, alphabet: Alphabet { council: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, reviewed by an agent, with waivers",
        Model {
            plan: ONE,
            alphabet: Alphabet { agent_reviews: true, waivers: true, ..NOTHING },
            patient: false,
        },
    ),
    (
        "one task, reviewed by a person in rounds",
        Model { plan: ONE, alphabet: Alphabet { people_review: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, reviewed by a person, gates waived",
        Model {
            plan: ONE,
            alphabet: Alphabet { people_review: true, waivers: true, ..NOTHING },
            patient: false,
        },
    ),
    (
        "one task, scans that find something",
        Model { plan: ONE, alphabet: Alphabet { scans: true, ..NOTHING }, patient: true },
    ),
    (
        "one task, reviewed by a person, scans that find something",
        Model {
            plan: ONE,
            alphabet: Alphabet { people_review: true, scans: true, ..NOTHING },
            patient: false,
        },
    ),
    (
        "one task, reviewed by a person, its branch changed after the approval",
        Model {
            plan: ONE,
            alphabet: Alphabet { people_review: true, late_changes: true, ..NOTHING },
            patient: false,
        },
    ),
    (
        "one task, reviewed by an agent, its branch changed after the approval",
        Model {
            plan: ONE,
            alphabet: Alphabet { agent_reviews: true, late_changes: true, ..NOTHING },
            patient: false,
        },
    ),
    (
        "one task, reviewed, the swarm paused and stopped",
        Model { plan: ONE, alphabet: Alphabet { reviews: true, stops: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, an allowance that is used up",
        Model { plan: ONE, alphabet: Alphabet { quota: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, denials and words of people",
        Model { plan: ONE, alphabet: Alphabet { denials: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, budgets",
        Model { plan: ONE, alphabet: Alphabet { budgets: true, ..NOTHING }, patient: false },
    ),
    ("one task, split", Model { plan: ONE, alphabet: Alphabet { splits: true, ..NOTHING }, patient: false }),
    (
        "one task, gone from trunk or without a change",
        Model { plan: ONE, alphabet: Alphabet { proofs: true, ..NOTHING }, patient: false },
    ),
    (
        "one task, checks that are red where it began",
        Model { plan: ONE, alphabet: Alphabet { bases: true, ..NOTHING }, patient: true },
    ),
    ("two tasks, one after the other", Model { plan: TWO, alphabet: NOTHING, patient: false }),
];

/// Operations over the swarm.
const OPERATIONS: [(&str, Model); 3] = [
    (
        "one task, taken back",
        Model { plan: ONE, alphabet: Alphabet { operations: Some(Cut::Back), ..NOTHING }, patient: false },
    ),
    (
        "one task, undone and redone",
        Model { plan: ONE, alphabet: Alphabet { operations: Some(Cut::Undo), ..NOTHING }, patient: false },
    ),
    (
        "two tasks, agents sent elsewhere",
        Model { plan: APART, alphabet: Alphabet { operations: Some(Cut::Sent), ..NOTHING }, patient: false },
    ),
];

const ONE: &[(&str, &[&str])] = &[("a", &[])];
const APART: &[(&str, &[&str])] = &[("a", &[]), ("b", &[])];
const TWO: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
/// Nothing but what people do to single tasks, and ordinary reports.
const NOTHING: Alphabet = Alphabet {
    stops: false,
    plan: false,
    waivers: false,
    failing_executors: false,
    failures: false,
    by_hand: false,
    reviews: false,
    people_review: false,
    agent_reviews: false,
    council: false,
    scans: false,
    late_changes: false,
    protected: false,
    no_checks: false,
    no_verification: false,
    quota: false,
    denials: false,
    budgets: false,
    splits: false,
    proofs: false,
    bases: false,
    operations: None,
};

/// Everything about every state in one walk, which is what takes the time: what the documents say of the stages, the
/// way to done, and the hints.
#[test]
fn printed_lifecycle_and_from_every_state_there_is_a_way_to_done_and_every_hint_is_accepted() {
    let models: Vec<&(&str, Model)> = MODELS.iter().chain(&OPERATIONS).collect();
    let next = AtomicUsize::new(0);
    let walk = std::thread::scope(|threads| {
        let look = || {
            let mut walk = Walk::default();
            while let Some((name, model)) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
                look_through(name, model, &mut walk);
            }
            walk
        };
        let all: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(look)).collect();
        let mut walk = Walk::default();
        all.into_iter().for_each(|one| walk.add(one.join().expect("every state is sound")));
        walk
    });
    walk.compare();
}

fn look_through(name: &str, model: &Model, walk: &mut Walk) {
    let seen = look_at(model, STATES_MAX, walk);
    println!("{name}: {} states, {} inputs", seen.states, seen.inputs);
    assert!(seen.complete, "{name}: more than {} states", seen.states);
}

/// From each of so many states there is a way to done, and every hint is accepted there.
fn look_at(model: &Model, most: usize, walk: &mut Walk) -> Seen {
    let walk = RefCell::new(walk);
    let mut proven = Proven::default();
    explore_edges(
        model,
        most,
        |here, refused| {
            walk.borrow_mut().visit(here);
            proven.leads_to_done(here);
            hints::every_hint_is_accepted(here, refused);
        },
        |from, events, _| walk.borrow_mut().edge(from, events),
    )
}
