//! A coordinator that dies with many agents at work: all of them go on, the next coordinator has them within seconds, nothing
//! is done twice, and with nobody after it they end by themselves and leave nothing.
//!
//! Sixteen agents; `SWARM_TRIALS=full` takes sixty-four, the most there can be, several times.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::arena::{Arena, Running, holds_within, wait_for};
use crate::ground::{arena_with, scaled};
use crate::victims::{Party, signal};

/// From the death of a coordinator until its successor has all agents.
const ATTACHED_WITHIN: Duration = Duration::from_secs(5);

/// An agent that nobody asks for any more goes to its end after so long.
const ALONE: &str = "3s";

struct Crowd {
    arena: Arena,
    many: usize,
}

impl Crowd {
    fn new(many: u64, changes: serde_json::Value) -> Self {
        let arena = arena_with(changes);
        let go = arena.path("go");
        let script = |n: u64| {
            format!(
                "write work/{n}-a.txt {n}\ncommit feat: {n} a\nwait-for {}\n\
                 write work/{n}-b.txt {n}\ncommit feat: {n} b\ncomplete",
                go.display()
            )
        };
        let ids: Vec<(String, String)> = (1..=many).map(|n| (format!("1.{n}"), script(n))).collect();
        let tasks: Vec<(&str, &[&str], String)> =
            ids.iter().map(|(id, script)| (id.as_str(), &[][..], script.clone())).collect();
        arena.plan(&tasks);
        Self { arena, many: usize::try_from(many).expect("few") }
    }

    /// A coordinator, with every agent at work.
    fn start(&self) -> Running {
        let run = self.arena.start(&["--agents", &self.many.to_string()]);
        wait_for("all agents have written", || {
            (1..=self.many)
                .all(|n| self.arena.root.join(format!(".swarm/worktrees/1.{n}/work/{n}-a.txt")).exists())
        });
        wait_for("all agents are connected", || self.connected() >= self.many);
        run
    }

    fn agents(&self) -> BTreeSet<u32> {
        self.arena.living(Party::Agent).into_iter().collect()
    }

    /// Daemons whose connection a living coordinator has taken in.
    fn connected(&self) -> usize {
        let run = self.arena.root.join(".swarm/run/").to_string_lossy().into_owned();
        let text = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let taken_in = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            matches!(words[..], [_, _, _, _, _, "03", inode, path] if inode != "0" && path.contains(&run))
        };
        text.lines().filter(taken_in).count()
    }

    /// From now until all are attached to the successor.
    fn all_come_back(&self, started: usize) {
        let died = Instant::now();
        let back = || self.arena.records("coordinator_started") > started && self.connected() >= self.many;
        assert!(holds_within(Duration::from_secs(60), back), "{} of {}", self.connected(), self.many);
        let took = died.elapsed();
        println!("{} agents attached again after {:.2} s", self.many, took.as_secs_f64());
        assert!(took < ATTACHED_WITHIN, "{} agents are attached again after {took:?}", self.many);
    }

    fn check_once(&self, said: &str) {
        self.arena.assert_all_done();
        for n in 1..=self.many {
            assert_eq!(self.arena.starts(&format!("1.{n}")), 1, "{n}: {said}");
        }
        let log = self.arena.git(&["log", "--format=", "--name-only", "main", "--", "work"]);
        let mut files: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
        files.sort_unstable();
        let all = files.len();
        files.dedup();
        assert_eq!((files.len(), all), (2 * self.many, 2 * self.many), "each file by one commit: {said}");
    }
}

#[test]
fn a_coordinator_that_dies_with_many_agents_is_followed_by_one_that_has_them_all_in_seconds() {
    let crowd = Crowd::new(scaled(16, 64), json!({}));
    let arena = &crowd.arena;
    let mut run = crowd.start();
    let mut agents = BTreeSet::new();
    // A program that one of them is about to start looks like it for a moment.
    wait_for("as many agents as tasks", || {
        agents = crowd.agents();
        agents.len() == crowd.many
    });
    // The one beside it starts the next; and one that a person starts when both are gone has them as well.
    for round in 0..scaled(1, 3) {
        let started = arena.records("coordinator_started");
        signal(run.coordinator(), Signal::KILL);
        crowd.all_come_back(started);
        run.kill_9();
        let started = arena.records("coordinator_started");
        run = arena.start(&["--agents", &crowd.many.to_string()]);
        crowd.all_come_back(started);
        assert!(crowd.agents().is_superset(&agents), "round {round}: the same agents");
    }
    std::fs::write(arena.path("go"), "").expect("the gate opens");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    crowd.check_once(&said);
    arena.assert_tidy();
}

#[test]
fn many_agents_whose_coordinator_died_for_good_end_by_themselves_and_their_work_is_kept() {
    let crowd = Crowd::new(scaled(8, 64), json!({ "daemon": { "alone": ALONE } }));
    let arena = &crowd.arena;
    let mut run = crowd.start();
    run.kill_9();
    wait_for("nobody is left", || arena.processes().is_empty());
    std::fs::write(arena.path("go"), "").expect("the gate opens");
    let (code, said) = arena.start(&["--agents", &crowd.many.to_string()]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    for n in 1..=crowd.many {
        for part in ["a", "b"] {
            let file = format!("work/{n}-{part}.txt");
            let commits = arena.git(&["log", "--format=%h", "main", "--", &file]);
            assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {said}");
        }
    }
    arena.assert_tidy();
}
