//! What needs an agent or a review can be done on the screen as well, and the ledger says the same of it but for who
//! asked: one swarm is steered from a shell, another one with the same plan by keys, step by step.

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, task};
use crate::on_the_screen::{by_people, with_keys};
use crate::tmux::Tmux;

/// A step: as a shell has it, as keys, and what is waited for before the next one.
struct Step {
    words: &'static [&'static str],
    keys: &'static [&'static str],
    until: fn(&Arena) -> bool,
}

const fn step(
    words: &'static [&'static str],
    keys: &'static [&'static str],
    until: fn(&Arena) -> bool,
) -> Step {
    Step { words, keys, until }
}

fn works(arena: &Arena, task: &str) -> bool {
    arena.status_of(task) == "active" && arena.shown(task)["stage"].to_string().contains("iteration")
}

fn at_once(_: &Arena) -> bool {
    true
}

const STEPS: &[Step] = &[
    step(&["task", "start", "1.1"], &["1.1", "S"], |arena| works(arena, "1.1")),
    step(
        &["agent", "message", "1.1", "look here"],
        &["1.1", "M", "~Enter send", "=look here", "~look here", "Enter"],
        at_once,
    ),
    step(&["agent", "stop", "1.1"], &["1.1", "s", "~Enter or y confirm", "Enter"], |arena| {
        arena.status_of("1.1") == "pending"
    }),
    step(&["task", "start", "1.1"], &["1.1", "S"], |arena| works(arena, "1.1")),
    step(&["agent", "kill", "1.1"], &["1.1", "x", "~Enter or y confirm", "Enter"], |arena| {
        arena.status_of("1.1") == "pending"
    }),
    step(&["task", "start", "1.1"], &["1.1", "S"], |arena| works(arena, "1.1")),
    // What it was sent away from is still wished for: another agent goes on with it.
    step(&["agent", "redirect", "1.1", "1.4"], &TYPED_REDIRECT, |arena| {
        works(arena, "1.4") && works(arena, "1.1")
    }),
    step(&["agent", "stop", "1.1"], &["1.1", "s", "~Enter or y confirm", "Enter"], |arena| {
        arena.status_of("1.1") == "pending"
    }),
    step(&["agent", "stop", "1.4"], &["1.4", "s", "~Enter or y confirm", "Enter"], |arena| {
        arena.status_of("1.4") == "pending"
    }),
    step(&["task", "start", "1.2"], &["1.2", "S"], |arena| arena.status_of("1.2") == "review"),
    step(
        &["review", "needs-changes", "1.2", "more of it"],
        &["1.2", "v", "~Enter send", "Tab", "~(•) needs changes", "=more of it", "~more of it", "Enter"],
        |arena| arena.shown("1.2")["attempts"] == 2 && arena.status_of("1.2") == "review",
    ),
    step(&["review", "approve", "1.2"], &["1.2", "v", "~Enter send", "Enter"], |arena| {
        arena.status_of("1.2") == "done"
    }),
    step(&["pause"], &["Space"], at_once),
    step(&["resume"], &["Space"], at_once),
    // Its agent finds the allowance used up: nothing of the group starts, and a person decides about the waiting.
    step(&["task", "start", "1.3"], &["1.3", "S"], |arena| waiting(arena).contains("script")),
    step(&["quota", "hold", "script"], &TYPED_HOLD, |arena| waiting(arena).contains("\"held\":true")),
    step(&["quota", "open", "script"], &TYPED_OPEN, |arena| waiting(arena) == "[]"),
];

const TYPED_REDIRECT: [&str; 8] = typed("=agent redirect 1.1 1.4", "~swarm    agent redirect 1.1 1.4");

const TYPED_HOLD: [&str; 8] = typed("=quota hold script", "~swarm    quota hold script");
const TYPED_OPEN: [&str; 8] = typed("=quota open script", "~swarm    quota open script");

/// A command that has no key, as it is typed and looked at.
const fn typed(line: &'static str, chosen: &'static str) -> [&'static str; 8] {
    [":", "~Commands and tasks", line, chosen, "~Enter · Esc", "Enter", "~Enter or y confirm", "Enter"]
}

/// The quotas that are waited for.
fn waiting(arena: &Arena) -> String {
    arena.json(&["quota"]).to_string()
}

/// A swarm in which nothing starts by itself.
fn swarm() -> (Arena, Running) {
    let arena = arena_with(json!({}));
    let mut reviewed = task(
        "1.2",
        &[],
        "on-attempt 1: write b.txt one\non-attempt 2: write b.txt two\ncommit feat: b\ncomplete",
    );
    reviewed["review"] = json!("human");
    let used_up =
        "print began\non-attempt 1: fail quota resets=600 all gone\nwrite c.txt c\ncommit feat: c\ncomplete";
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "print at work\nhang"),
        reviewed,
        task("1.3", &[], used_up),
        task("1.4", &[], "print at work\nhang"),
    ]]);
    let mut run = arena.start_with(&["--mode", "semi-auto", "--agents", "2"]);
    run.until("swarm task start 1.1");
    (arena, run)
}

fn steered(how: impl Fn(&Arena, &Step)) -> Vec<String> {
    let (arena, run) = swarm();
    let before = by_people(&arena).len();
    for step in STEPS {
        how(&arena, step);
        wait_for(&format!("{:?} has come to its end", step.words), || (step.until)(&arena));
    }
    let mut all = by_people(&arena);
    all.drain(..before);
    arena.ok(&["stop"]);
    run.end();
    arena.assert_nothing_runs();
    arena.is_judged();
    all
}

#[test]
fn what_needs_an_agent_or_a_review_is_recorded_the_same_from_the_screen() {
    let in_a_shell = std::thread::spawn(|| {
        steered(|arena, step| {
            arena.ok(step.words);
        })
    });
    let on_the_screen = steered(|arena, step| {
        let tmux = Tmux::start(arena, 80, 24, &["tui"]);
        tmux.until("the plan is there", |screen| screen.contains("Do 1.2"));
        let before = by_people(arena).len();
        with_keys(&tmux, step.keys);
        tmux.until("the ledger has it", |_| by_people(arena).len() > before);
    });
    let in_a_shell = in_a_shell.join().expect("it ran to its end");
    assert_eq!(in_a_shell.len(), STEPS.len(), "{in_a_shell:#?}");
    assert_eq!(on_the_screen, in_a_shell);
}
