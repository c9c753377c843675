//! A whole plan on a repository of some size: every task proven by git itself, nothing left behind.

use std::time::Instant;

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::ground::{arena_with, task};

const TASKS: usize = 40;
const PHASES: usize = 4;
const FOLDERS: usize = 50;
const FILES_PER_FOLDER: usize = 100;

/// The tasks of one phase: chains of three, each chain after the phase before.
fn phase(number: usize) -> Vec<Value> {
    let each = TASKS / PHASES;
    let id = |phase: usize, n: usize| format!("{phase}.{n}");
    (1..=each)
        .map(|n| {
            let before = match (number, n % 3) {
                (_, 2 | 0) => Some(id(number, n - 1)),
                (1, _) => None,
                _ => Some(id(number - 1, n)),
            };
            let depends: Vec<&str> = before.iter().map(String::as_str).collect();
            task(&id(number, n), &depends, &script(&id(number, n), (number - 1) * each + n))
        })
        .collect()
}

/// Every task changes a file of its own among the many and adds one. Some submit work that is red at
/// first; one crashes with half of its work committed.
fn script(id: &str, nth: usize) -> String {
    let mut lines = vec![];
    if nth == 5 {
        lines.push(format!("on-attempt 1: write work/{id}-half.txt half"));
        lines.push(format!("on-attempt 1: commit feat: half of {id}"));
        lines.push("on-attempt 1: crash 9".into());
    }
    lines.push(format!("write src/part{nth}/file{nth}.txt changed by {id}"));
    lines.push(format!("write work/{id}.txt made by {id}"));
    if nth.is_multiple_of(7) {
        lines.push(format!("on-iteration 1: write broken-{id} not yet"));
        lines.push(format!("on-iteration 2: delete broken-{id}"));
    }
    lines.push(format!("on-iteration 1: commit feat: {id}"));
    lines.push(format!("on-iteration 2: commit fix: {id}"));
    lines.push("complete".into());
    lines.join("\n")
}

fn many_files(arena: &Arena) {
    for folder in 0..FOLDERS {
        for file in 0..FILES_PER_FOLDER {
            arena.write(&format!("src/part{folder}/file{file}.txt"), &format!("{folder} {file}\n"));
        }
    }
    arena.git(&["add", "src"]);
    arena.git(&["commit", "--quiet", "--message", "person: many files"]);
}

#[test]
fn forty_tasks_of_eight_agents_on_five_thousand_files_are_all_proven_and_nothing_is_left() {
    let arena = arena_with(json!({ "check": { "commands": ["! ls broken-* >/dev/null 2>&1"] } }));
    many_files(&arena);
    let phases: Vec<Vec<Value>> = (1..=PHASES).map(phase).collect();
    arena.plan_in_phases(&phases);
    let tmp = arena.path("tmp");
    std::fs::create_dir(&tmp).expect("a folder");
    let began = Instant::now();
    let mut command = arena.command(&["run", "--agent", "script", "--agents", "8"]);
    command.env("TMPDIR", &tmp);
    let (code, said) = crate::arena::Running::of(command).end();
    println!("{TASKS} tasks in {:.1} s", began.elapsed().as_secs_f64());
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    for task in arena.tasks() {
        let id = task["id"].as_str().expect("an id");
        arena.assert_proven(id, "main");
        assert_eq!(arena.commits("main", &format!("feat: {id}")), 1, "of {id}");
        let content = arena.git(&["show", &format!("main:work/{id}.txt")]);
        assert_eq!(content.trim(), format!("made by {id}"));
    }
    let crashed = arena.shown("1.5");
    assert_eq!((&crashed["attempts"], &crashed["restarts"]), (&json!(1), &json!(1)), "{crashed}");
    assert_eq!(arena.commits("main", "feat: half of 1.5"), 1);
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main"]).matches("broken-").count(), 0);
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    arena.assert_tidy();
    assert_only_the_pool_is_left(&arena);
    let left: Vec<_> = std::fs::read_dir(&tmp).expect("it").flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "temporary files are left: {left:?}");
}

/// Worktrees may wait for the next task, as many as `worktree.pool` says and of no task; branches of
/// finished tasks are gone.
fn assert_only_the_pool_is_left(arena: &Arena) {
    let kept = arena.worktrees();
    assert!(kept.len() <= 5, "the pool and the merge worktree: {kept:?}");
    assert_eq!(arena.task_branches(), Vec::<String>::new());
    let text = kept.join("\n");
    for task in arena.tasks() {
        let id = task["id"].as_str().expect("an id");
        assert!(!text.lines().any(|path| path.ends_with(&format!("/{id}"))), "of {id}: {text}");
    }
}
