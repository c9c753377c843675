//! One repository on one disk, and cut after cut.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::arena::holds_within;
use crate::arena::{Arena, Running, wait_for};
use crate::loop_disk::{Kind, LoopDisk};
use crate::seeded::Seeded;
use crate::victims::signal;

/// XFS wants 300 MB at least.
pub const DISK_MB: u64 = 4096;

/// Open tasks when a run begins.
const OPEN: usize = 4;

pub struct Cuts {
    // Before the disk: its folder lies on it.
    arena: Arena,
    disk: LoopDisk,
    chance: Seeded,
    /// The sync of the repository is left out.
    planted: bool,
    answered: Vec<String>,
}

impl Cuts {
    pub fn new(kind: Kind, planted: bool) -> Self {
        let disk = LoopDisk::new(kind, DISK_MB);
        let config = json!({
            "agent": "script",
            "mode": "autopilot",
            "recovery": { "maxRetries": 100, "backoffMax": "1s" },
            "stop": { "grace": "1s", "drain": "1s" },
        });
        let place = tempfile::tempdir_in(disk.mount_point()).expect("a folder");
        let arena = Arena::inside(place, &config.to_string());
        arena.plan(&[("1.1", &[], script("1.1"))]);
        // What the person made before is on the disk: only what we do is tried.
        let _ = std::process::Command::new("sync").status();
        Self { arena, disk, chance: Seeded::new(7), planted, answered: vec!["1.1".into()] }
    }

    /// A run, the power cut in its middle, and a look at what came back. Err: something was lost.
    pub fn one_more(&mut self) -> Result<(), String> {
        let open = self.answered.len() - self.arena.records("merge_completed").min(self.answered.len());
        for _ in open..OPEN {
            self.add()?;
        }
        let before = self.arena.records("merge_completed");
        let run = self.start();
        holds_within(Duration::from_secs(20), || self.arena.records("merge_completed") > before);
        holds_within(Duration::from_millis(self.chance.between(0, 250)), || false);
        if self.chance.below(2) == 0 {
            self.add()?; // answered right before
        }
        self.disk.cut();
        all_die(&self.arena);
        drop(run);
        self.disk.come_back();
        catch_unwind(AssertUnwindSafe(|| self.look())).map_err(|panic| {
            // That is the verdict: what is left of the repository answers no more questions.
            self.arena.is_judged();
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
        })
    }

    fn start(&self) -> Running {
        let mut command =
            self.arena.command(&["run", "--agent", "script", "--mode", "autopilot", "--agents", "3"]);
        if self.planted {
            command.env("SWARM_PLANTED_NO_SYNCFS", "1");
        }
        Running::of(command)
    }

    fn add(&mut self) -> Result<(), String> {
        let id = format!("p{}", self.answered.len());
        let description = format!("```script\n{}\n```", script(&id));
        let out = self.arena.swarm(&["task", "add", "More", "--id", &id, "--description", &description]);
        if !out.status.success() {
            return Err(format!("task add: {}", String::from_utf8_lossy(&out.stderr)));
        }
        self.answered.push(id);
        Ok(())
    }

    /// Before anything has been put right.
    fn look(&self) {
        let arena = &self.arena;
        let tasks = arena.tasks();
        for id in &self.answered {
            assert!(tasks.iter().any(|task| task["id"] == **id), "{id} was answered and is gone");
        }
        self.trunk_is_whole();
        for task in tasks.iter().filter(|task| task["status"] == "done") {
            let id = task["id"].as_str().expect("an id");
            arena.assert_proven(id, "main");
            let file = format!("main:work/{id}.txt");
            assert_eq!(arena.git(&["show", &file]).trim(), id, "{id} is recorded as done");
        }
        arena.git(&["status", "--porcelain", "--untracked-files=no"]);
    }

    /// Every commit, tree and file of trunk's history can be read. What agents had not handed in may be torn: nobody had
    /// said that it was there, and the next start clears it away.
    fn trunk_is_whole(&self) {
        self.arena.git(&["log", "--patch", "--format=%H %T", "main"]);
    }

    /// In the light again everything comes to its end.
    pub fn end(mut self) {
        self.add().expect("there is power");
        let (code, said) = self.start().end();
        assert_eq!(code, 0, "{said}");
        self.arena.assert_all_done();
        self.arena.assert_tidy();
        for id in &self.answered {
            let file = format!("work/{id}.txt");
            let commits = self.arena.git(&["log", "--format=%h", "main", "--", &file]);
            assert_eq!(commits.lines().count(), 1, "{file} is on trunk once");
        }
        println!("{} tasks, all of them on trunk once", self.answered.len());
    }
}

/// Without power nobody lives.
pub fn all_die(arena: &Arena) {
    wait_for("everybody is dead", || {
        let living = arena.processes();
        for process in &living {
            if let Some(pid) = process.split(' ').next().and_then(|pid| pid.parse().ok()) {
                signal(pid, Signal::KILL);
            }
        }
        living.is_empty()
    });
}

fn script(id: &str) -> String {
    format!("write work/{id}.txt {id}\ncommit feat: {id}\ncomplete")
}
