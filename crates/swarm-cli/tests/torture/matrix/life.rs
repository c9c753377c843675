//! One scripted life, lived to its end whatever falls on it.

use std::process::Command;

use serde_json::json;

use super::blow::{Blow, Struck};
use super::shim;
use super::traced::{Call, calls_in};
use crate::arena::{Arena, LIMIT, Running};
use crate::ground::{arena_with, task};

/// The commands of a life, in their order.
pub const COMMANDS: usize = 4;
pub const RUN: usize = 2;

/// Two commits and a pause in between, so that there is a middle of the work.
const SCRIPT: &str =
    "write work/one.txt one\ncommit feat: one\nsleep 60\nwrite work/two.txt two\ncommit feat: two\ncomplete";

/// A command that was killed again and again is asked for again at most so often.
const TRIES_MAX: usize = 6;

pub struct Life {
    pub arena: Arena,
}

impl Life {
    pub fn new() -> Self {
        // Without walls: the shim of git counts outside of the worktrees.
        let arena = arena_with(json!({
            "agent": "script",
            "sandbox": "none",
            "check": { "commands": ["test -e work/two.txt"] },
            "verify": { "commands": ["test -e work/one.txt"] },
            "recovery": { "maxRetries": 8, "backoffMax": "1s" },
            "stop": { "grace": "1s", "drain": "1s" },
        }));
        let plan = json!({ "goal": "live", "phases": [{ "id": 1, "name": "all", "tasks": [task("1.1", &[], SCRIPT)] }] });
        std::fs::write(arena.path("plan.json"), plan.to_string()).expect("the plan file");
        Self { arena }
    }

    /// Lives it with these blows, one after the other: a blow falls in the first command that it is meant for. Gives
    /// the record after which each fell; none where the command ended before.
    pub fn live(&self, blows: &[Blow]) -> Vec<Option<String>> {
        let mut blows: Vec<&Blow> = blows.iter().collect();
        let mut places = Vec::new();
        for command in 0..COMMANDS {
            let mut tries = 0;
            loop {
                let blow = blows.first().filter(|blow| blow.command() == command).copied();
                let (code, said, struck) = self.obey(command, blow);
                if blow.is_some() {
                    blows.remove(0);
                    places.push(struck.map(|place| format!("{} {place}", self.name(command))));
                }
                if code == Some(0) && blows.first().is_none_or(|blow| blow.command() != command) {
                    break;
                }
                if self.is_over(command, &said) {
                    break;
                }
                tries += 1;
                assert!(tries < TRIES_MAX, "{} ends with {code:?}: {said}", self.name(command));
                let dead = code.is_none() || struck_down(&said);
                assert!(dead || code == Some(0), "{} ends with {code:?}: {said}", self.name(command));
            }
            if command == RUN {
                self.check_end();
            }
        }
        self.check_closed();
        places
    }

    fn obey(&self, command: usize, blow: Option<&Blow>) -> (Option<i32>, String, Struck) {
        match blow {
            Some(blow) => blow.fall(self, command),
            None => {
                let (code, said) = ended(Running::of(self.command(command)));
                (code, said, None)
            }
        }
    }

    pub fn command(&self, command: usize) -> Command {
        let plan = self.arena.path("plan.json").display().to_string();
        match command {
            0 => self.arena.command(&["init"]),
            1 => self.arena.command(&["plan", "save", &plan]),
            RUN => self.arena.command(&["run", "--coordinate", "--agent", "script", "--mode", "autopilot"]),
            _ => self.arena.command(&["close", "--yes"]),
        }
    }

    fn name(&self, command: usize) -> &'static str {
        ["init", "plan", "run", "close"][command]
    }

    /// A close that had done everything before it was killed finds no plan the next time.
    fn is_over(&self, command: usize, said: &str) -> bool {
        command + 1 == COMMANDS && said.contains("no plan") && !self.arena.ledger().exists()
    }

    fn check_end(&self) {
        let arena = &self.arena;
        arena.assert_all_done();
        arena.assert_proven("1.1", "main");
        for (name, file) in [("one", "work/one.txt"), ("two", "work/two.txt")] {
            // By the file: an attempt that goes on commits what it finds under its own first words.
            let commits = arena.git(&["log", "--format=%h %s", "main", "--", file]);
            assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {commits}");
            assert_eq!(arena.git(&["show", &format!("main:{file}")]).trim(), name);
        }
        assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "", "a clean checkout");
        assert_eq!(arena.worktrees(), Vec::<String>::new(), "no worktree is left");
        arena.assert_tidy();
        assert_eq!(arena.task_branches(), Vec::<String>::new());
    }

    fn check_closed(&self) {
        assert!(!self.arena.ledger().exists(), "the ledger is in the archive");
        let archive = self.arena.root.join(".swarm/archive");
        let kept = crate::arena::files_below(&archive, ".jsonl");
        assert_eq!(kept.len(), 1, "{kept:?}");
        let text = std::fs::read_to_string(&kept[0]).expect("text");
        assert_eq!(text.matches("\"type\":\"merge_completed\"").count(), 1, "merged once");
        assert!(text.trim_end().lines().last().is_some_and(|last| last.contains("plan_closed")));
    }

    /// Every call that this command makes in a life without blows.
    pub fn traced(&self, command: usize) -> Vec<Call> {
        self.up_to(command);
        let log = self.arena.path("strace.log");
        let (code, said) = ended(Running::of(super::traced::counting(&self.command(command), &log)));
        assert_eq!(code, Some(0), "strace cannot trace here: {said}");
        let root = self.arena.root.canonicalize().expect("it is there");
        calls_in(&std::fs::read_to_string(log).expect("strace wrote its log"), &root)
    }

    /// How many times git is called in a run without blows.
    pub fn gits(&self) -> u32 {
        self.up_to(RUN);
        let mut command = self.command(RUN);
        shim::put_before(&mut command, &self.arena, None);
        let (code, said) = ended(Running::of(command));
        assert_eq!(code, Some(0), "{said}");
        shim::counted(&self.arena)
    }

    fn up_to(&self, command: usize) {
        for before in 0..command {
            let (code, said) = ended(Running::of(self.command(before)));
            assert_eq!(code, Some(0), "{said}");
        }
    }
}

/// Its exit code (none: killed) and all it said, within the limit of every wait.
pub fn ended(mut running: Running) -> (Option<i32>, String) {
    let in_time = running.for_a_while(LIMIT);
    assert!(in_time, "it does not end:\n{}", running.said());
    let status = running.child.wait().expect("it is ours");
    (status.code(), running.said())
}

/// A coordinator that finds the shim of git dead may say so and end; the next one goes on.
fn struck_down(said: &str) -> bool {
    said.contains("git")
        && (said.contains("signal: 9") || said.contains("SIGKILL") || said.contains("killed"))
}
