//! An operation, or a person's own git; then the swarm goes on to its end, and git is asked whether what it calls done is there.

mod ways_back;
mod people_use_git;
mod trunk;
mod nothing_to_do;
mod matrix;
mod strategies;
mod taken_out;
mod taken_back_before;
mod next_plan;

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, task};

/// What an agent does that writes one file.
pub fn writes(name: &str) -> String {
    format!("write {name}.txt {name}\ncommit feat: {name}\ncomplete")
}

/// Two tasks on trunk, one upon the other.
pub fn two_done() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], &writes("two"))]]);
    let (code, said) = arena.run(&["--agents", "2"]);
    assert_eq!(code, 0, "{said}");
    arena
}

/// The same, and a third whose agent has committed half of its work and waits; nobody is there any more.
pub fn two_done_and_one_half() -> Arena {
    let arena = arena_with(json!({}));
    let run = half(&arena);
    arena.ok(&["stop"]);
    run.end();
    arena
}

/// The third is at work.
pub fn half(arena: &Arena) -> Running {
    let go = arena.path("go").display().to_string();
    let half = format!(
        "write three.txt three\ncommit feat: three\nwrite rest.txt rest\nprint half way\nwait-for {go}\ncommit feat: rest\ncomplete"
    );
    arena.plan_in_phases(&[vec![
        task("1.1", &[], &writes("one")),
        task("1.2", &["1.1"], &writes("two")),
        task("1.3", &["1.2"], &half),
    ]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("the third is half way", || arena.printed().contains("half way"));
    run
}

/// Everything that trunk has.
pub fn on_trunk(arena: &Arena) -> Vec<String> {
    let tree = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
    tree.lines().map(str::to_owned).collect()
}

/// On to the end: every task is done, git has what each of them wrote, and nothing else.
#[track_caller]
pub fn ends_with(arena: &Arena, files: &[&str]) {
    std::fs::write(arena.path("go"), "").expect("a file");
    arena.assert_true_at_rest();
    arena.assert_all_done();
    let mut all = [&["README.md"], files].concat();
    all.sort_unstable();
    assert_eq!(on_trunk(arena), all);
    arena.assert_tidy();
}
