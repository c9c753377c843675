//! Every operation, alone and undone, in every situation; then on to the end, and git is asked. Ordinary tests take a spread of
//! the table in which each operation meets several situations, `SWARM_TRIALS=full` all of it.

use std::time::Duration;

use serde_json::json;

use super::half;
use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, scaled};

/// What moves git: each meets a third of the situations, alone in some and undone in others.
const WAYS_BACK: [&[&str]; 6] = [
    &["task", "rollback", "1.1", "--cascade", "--yes"],
    &["rollback", "before-merge-1.2", "--yes"],
    &["rollback", "--session", "--yes"],
    &["task", "rollback", "1.3", "--yes"],
    &["rollback", "mine", "--yes"],
    &["abort", "--yes"],
];

/// What only changes the plan or who works: each meets one.
const CHANGES: [&[&str]; 13] = [
    &["pause", "--force"],
    &["mode", "semi-auto"],
    &["task", "block", "1.3", "waits for the design"],
    &["task", "defer", "1.3"],
    &["task", "cancel", "1.3"],
    &["task", "edit", "1.3", "--title", "Do it well"],
    &["task", "add", "One more", "--id", "1.9", "--phase", "1"],
    &["task", "waive", "1.3", "check", "--reason", "no tests there"],
    &["plan", "profile", "set", "--max", "3"],
    &["checkpoint", "create", "another"],
    &["agent", "stop", "1.3"],
    &["agent", "kill", "1.3"],
    &["task", "move", "1.3", "--first"],
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Situation {
    Idle,
    Active,
    Stopped,
    Paused,
    DuringMerge,
    Committed,
    Reverted,
    Reset,
    Elsewhere,
    Amended,
}

/// An operation in its situation.
#[derive(Debug)]
struct Cell {
    ask: &'static [&'static str],
    undone: bool,
}

fn cells(situation: Situation) -> Vec<Cell> {
    let at = situation as usize;
    if scaled(0, 1) == 1 {
        let all = WAYS_BACK.iter().chain(&CHANGES);
        return all.flat_map(|ask| [false, true].map(|undone| Cell { ask, undone })).collect();
    }
    let ways_back = WAYS_BACK.iter().enumerate().filter(|(n, _)| (at + n).is_multiple_of(3));
    let ways_back = ways_back.map(|(n, ask)| Cell { ask, undone: (at + n / 3).is_multiple_of(2) });
    let changes = CHANGES.iter().enumerate().filter(|(n, _)| n % 10 == at);
    ways_back.chain(changes.map(|(n, ask)| Cell { ask, undone: n % 4 < 2 })).collect()
}

/// While this file is there verification does not end. In the home folder: behind walls /tmp is a program's own.
struct Hold(std::path::PathBuf);

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Where an operation finds the swarm, and what holds it there.
struct Stage {
    arena: Arena,
    run: Option<Running>,
    hold: Option<Hold>,
}

fn stage(situation: Situation) -> Stage {
    if situation == Situation::Idle {
        let arena = arena_with(json!({}));
        std::fs::write(arena.path("go"), "").expect("a file");
        half(&arena).end();
        arena.ok(&["checkpoint", "create", "mine"]);
        return Stage { arena, run: None, hold: None };
    }
    let arena = arena_with(match situation {
        Situation::DuringMerge => {
            json!({ "verify": { "commands": ["while test -e \"$HOME/hold\"; do sleep 0.05; done"] } })
        }
        _ => json!({}),
    });
    let run = half(&arena);
    arena.ok(&["checkpoint", "create", "mine"]);
    let mut stage = Stage { arena, run: Some(run), hold: None };
    stage.reach(situation);
    stage
}

impl Stage {
    fn reach(&mut self, situation: Situation) {
        let git = |args: &[&str]| drop(self.arena.git(args));
        match situation {
            Situation::Active => return,
            Situation::Paused => return drop(self.arena.ok(&["pause"])),
            Situation::DuringMerge => {
                let hold = self.arena.path("hold");
                std::fs::write(&hold, "").expect("a file");
                self.hold = Some(Hold(hold));
                std::fs::write(self.arena.path("go"), "").expect("a file");
                wait_for("it is being merged", || self.arena.status_of("1.3") == "merging");
                return;
            }
            _ => {}
        }
        self.arena.ok(&["stop"]);
        self.run.take().expect("it runs").end();
        match situation {
            Situation::Committed => self.arena.commit("mine.txt", "mine"),
            Situation::Reverted => git(&["revert", "--no-edit", "HEAD"]),
            Situation::Reset => git(&["reset", "--quiet", "--hard", "HEAD~1"]),
            Situation::Amended => git(&["commit", "--quiet", "--amend", "--message", "feat: better words"]),
            Situation::Elsewhere => git(&["checkout", "--quiet", "-b", "other", "HEAD~1"]),
            _ => {}
        }
    }

    /// Done or refused with words. What waits for a merge goes on when that does.
    fn ask(&mut self, args: &[&str]) -> bool {
        let mut asked = Running::of(self.arena.command(args));
        if !asked.for_a_while(Duration::from_millis(700)) {
            self.hold = None;
        }
        let (code, said) = asked.end();
        assert!(code == 0 || [1, 4].contains(&code) && said.contains("Hint: "), "{args:?}: {code} {said}");
        code == 0
    }
}

fn check(situation: Situation, cell: &Cell) {
    println!("{situation:?}: {cell:?}");
    let mut stage = stage(situation);
    let done = stage.ask(cell.ask);
    let undone = done && cell.undone && stage.ask(&["undo", "--yes"]);
    stage.hold = None;
    std::fs::write(stage.arena.path("go"), "").expect("a file");
    if let Some(mut run) = stage.run.take() {
        if !run.for_a_while(Duration::from_millis(2500)) {
            stage.arena.swarm(&["stop"]);
        }
        run.end();
    }
    let arena = &stage.arena;
    let rested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        arena.assert_true_at_rest();
        let put_off = ["defer", "cancel"].contains(cell.ask.get(1).unwrap_or(&"")) && !undone;
        for task in arena.tasks().iter().filter(|task| !(put_off && task["id"] == "1.3")) {
            assert_eq!(task["status"], "done", "{task}: {}", arena.attention());
        }
    }));
    if let Err(panic) = rested {
        eprintln!("{situation:?}: {cell:?}, done: {done}, undone: {undone}");
        std::panic::resume_unwind(panic);
    }
}

/// All cells of a situation; which of them fail is said of all.
fn check_all(situation: Situation) {
    let failed: Vec<String> = cells(situation)
        .iter()
        .filter(|cell| std::panic::catch_unwind(|| check(situation, cell)).is_err())
        .map(|cell| format!("{cell:?}"))
        .collect();
    assert!(failed.is_empty(), "{situation:?}:\n{}", failed.join("\n"));
}

#[test]
fn while_nobody_works() {
    check_all(Situation::Idle);
}

#[test]
fn while_an_agent_works() {
    check_all(Situation::Active);
}

#[test]
fn after_a_stop_with_unmerged_work() {
    check_all(Situation::Stopped);
}

#[test]
fn during_a_pause() {
    check_all(Situation::Paused);
}

#[test]
fn during_a_merge() {
    check_all(Situation::DuringMerge);
}

#[test]
fn behind_a_commit_of_a_person() {
    check_all(Situation::Committed);
}

#[test]
fn behind_a_revert_of_a_person() {
    check_all(Situation::Reverted);
}

#[test]
fn after_a_person_reset_trunk() {
    check_all(Situation::Reset);
}

#[test]
fn while_a_person_is_on_another_branch() {
    check_all(Situation::Elsewhere);
}

#[test]
fn after_a_person_amended_a_commit() {
    check_all(Situation::Amended);
}
