//! Many commands at once: one chain, every task, and no error shown to anyone.

mod world;

use std::sync::Mutex;

use world::{World, dense_chain};

const PROCESSES: usize = 16;
const TASKS_EACH: usize = 100;

#[test]
fn sixteen_processes_add_a_hundred_tasks_each() {
    let world = World::new();
    world.file("plan.md", "# Goal\n\n- [ ] 1.1 One\n");
    world.swarm(&["plan", "save", "plan.md"]).good();
    let shown = Mutex::new(vec![]);
    std::thread::scope(|threads| {
        for process in 0..PROCESSES {
            let (world, shown) = (&world, &shown);
            threads.spawn(move || {
                for number in 0..TASKS_EACH {
                    let id = format!("p{process}-{number}");
                    let ran = world.swarm(&["task", "add", &format!("Task {number}"), "--id", &id]);
                    if ran.code != Some(0) || !ran.err.is_empty() {
                        shown
                            .lock()
                            .expect("no panic")
                            .push(format!("{id}: {:?} {}{}", ran.code, ran.out, ran.err));
                    }
                }
            });
        }
    });
    let shown = shown.into_inner().expect("no panic");
    assert!(shown.is_empty(), "{} errors, the first: {}", shown.len(), shown[0]);
    let rows = world.swarm(&["--json", "task", "list"]).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(PROCESSES * TASKS_EACH + 1));
    assert!(dense_chain(&world.ledger()) > (PROCESSES * TASKS_EACH) as u64);
    world.swarm(&["plan", "verify"]).good();
}

#[test]
fn numbers_that_are_chosen_at_once_are_never_the_same() {
    let world = World::new();
    world.file("plan.md", "# Goal\n\n- [ ] 1.1 One\n");
    world.swarm(&["plan", "save", "plan.md"]).good();
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
