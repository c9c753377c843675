//! The calendar of the machine is set while a swarm works, back and forth, by hours and by years. A real run: its programs (and
//! every git and agent they start) are told a wrong time by a small library that is loaded before the C library. Nothing waits
//! longer for it, nothing is done twice, and the ledger stays in order.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, scaled};
use crate::namespace::not_proven;
use crate::victims::signal;

const HOUR: i64 = 3600;
const YEAR: i64 = 365 * 24 * HOUR;

/// By this file the library knows how wrong it is to be.
const CLOCK: &str = "SWARM_TEST_CLOCK";

/// Time since boot is left alone, as it is by whoever sets the calendar of a machine.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long wrong(void) {
    const char *name = getenv("SWARM_TEST_CLOCK");
    char text[32] = "";
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? atol(text) : 0;
}
int clock_gettime(clockid_t id, struct timespec *at) {
    int done = syscall(SYS_clock_gettime, id, at);
    if (!done && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += wrong();
    return done;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    int done = clock_gettime(CLOCK_REALTIME, &now);
    if (at) at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
    return done;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"#;

/// A clock that can be set, for whatever is started with it.
struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    /// None: this machine has no C compiler.
    fn of(arena: &Arena) -> Option<Self> {
        let (source, library) = (arena.path("clock.c"), arena.path("clock.so"));
        std::fs::write(&source, LIBRARY).expect("a file");
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        let clock = Self { library, file: arena.path("clock") };
        clock.set(0);
        made.is_ok_and(|status| status.success()).then_some(clock)
    }

    fn set(&self, wrong_by: i64) {
        let new = self.file.with_extension("new");
        std::fs::write(&new, wrong_by.to_string()).expect("a file");
        std::fs::rename(new, &self.file).expect("set at once");
    }

    fn lies_to(&self, mut command: Command) -> Command {
        command.env("LD_PRELOAD", &self.library).env(CLOCK, &self.file);
        command
    }

    /// Whether the programs that are started with it believe it.
    fn is_believed(&self, arena: &Arena) -> bool {
        self.set(YEAR);
        let status = self.lies_to(arena.command(&["--version"])).output().expect("swarm runs");
        let mut git = self.lies_to(Command::new("git"));
        git.args(["-c", "user.name=x", "-c", "user.email=x@localhost", "var", "GIT_COMMITTER_IDENT"]);
        let said = git.current_dir(&arena.root).output().expect("git runs");
        self.set(0);
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let at: i64 = said.split_whitespace().rev().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        status.status.success() && at - now() > YEAR / 2
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("small")
}

/// What the calendar is set to, one after the other: each while one more task comes to its end.
fn jumps() -> Vec<i64> {
    let in_1970 = 24 * HOUR - now();
    let all = vec![HOUR, -HOUR, YEAR, -YEAR, 10 * YEAR, in_1970, 1, -1, -10 * YEAR, 0];
    let many = usize::try_from(scaled(6, 10)).expect("small");
    all.into_iter().take(many).collect()
}

struct Scene {
    arena: Arena,
    clock: Clock,
    jumps: Vec<i64>,
}

impl Scene {
    /// None where it cannot be played.
    fn new(test: &str) -> Option<Self> {
        let arena = arena_with(json!({ "agent": "script", "verify": { "commands": ["test -d work"] } }));
        let clock = Clock::of(&arena);
        let Some(clock) = clock.filter(|clock| clock.is_believed(&arena)) else {
            not_proven(
                test,
                "there is no C compiler (`sudo apt-get install gcc`), or programs do not load libraries",
            );
            arena.is_judged();
            return None;
        };
        let jumps = jumps();
        let gate = |n: usize| arena.path(&format!("gate-{n}")).display().to_string();
        let script = |n: usize| {
            format!(
                "write work/{n}-a.txt {n}\ncommit feat: {n} a\nwait-for {}\n\
                 write work/{n}-b.txt {n}\ncommit feat: {n} b\ncomplete",
                gate(n)
            )
        };
        let ids: Vec<(String, String)> =
            (0..jumps.len()).map(|n| (format!("1.{}", n + 1), script(n))).collect();
        let tasks: Vec<(&str, &[&str], String)> =
            ids.iter().map(|(id, script)| (id.as_str(), &[][..], script.clone())).collect();
        arena.plan(&tasks);
        Some(Self { arena, clock, jumps })
    }

    fn start(&self) -> Running {
        let run = ["run", "--agent", "script", "--mode", "autopilot", "--agents", "3"];
        Running::of(self.clock.lies_to(self.arena.command(&run)))
    }

    /// Sets the calendar, and lets one task more come to its end. Whoever asks is told within seconds, by the same calendar.
    fn jump(&self, n: usize) {
        self.clock.set(self.jumps[n]);
        for command in ["status", "attention", "doctor"] {
            let out = self.clock.lies_to(self.arena.command(&[command])).output().expect("it runs");
            let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
            assert!(matches!(out.status.code(), Some(0 | 1)), "{command} at {}: {said}", self.jumps[n]);
        }
        std::fs::write(self.arena.path(&format!("gate-{n}")), "").expect("the gate opens");
        wait_for("one task more is merged", || self.arena.records("merge_completed") > n);
    }

    fn check(&self, said: &str) {
        let arena = &self.arena;
        arena.assert_all_done();
        for n in 0..self.jumps.len() {
            assert_eq!(arena.starts(&format!("1.{}", n + 1)), 1, "nobody was started again: {said}");
            for part in ["a", "b"] {
                let file = format!("work/{n}-{part}.txt");
                let commits = arena.git(&["log", "--format=%h", "main", "--", &file]);
                assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {said}");
            }
        }
        in_order(&arena.ledger());
        arena.assert_tidy();
    }
}

/// Records are in order by their numbers, and their times never go back.
fn in_order(ledger: &Path) {
    let text = std::fs::read_to_string(ledger).expect("a ledger");
    let mut before = (0, String::new());
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        let at =
            (record["seq"].as_u64().expect("a number"), record["ts"].as_str().expect("a time").to_owned());
        assert!(at.0 == before.0 + 1 && at.1 >= before.1, "{before:?}, then {line}");
        before = at;
    }
}

#[test]
fn a_calendar_that_is_set_while_agents_work_changes_nothing_but_what_clocks_show() {
    let Some(scene) = Scene::new("that a run does not mind its calendar") else { return };
    let mut run = scene.start();
    wait_for("agents are at work", || scene.arena.records("agent_spawned") > 1);
    (0..scene.jumps.len()).for_each(|n| scene.jump(n));
    let (mut told, mut summary) = (run.child.stdout.take().expect("a pipe"), String::new());
    let (code, said) = run.end();
    told.read_to_string(&mut summary).expect("text");
    assert_eq!(code, 0, "{said}");
    let took = summary.lines().find(|line| line.starts_with("Took ")).expect("it says how long it took");
    assert!(!took.contains("d ") && !took.ends_with("d."), "a run of seconds: {took}");
    scene.check(&said);
}

#[test]
fn coordinators_of_different_calendars_follow_each_other_and_the_ledger_stays_in_order() {
    let Some(scene) = Scene::new("that coordinators of different calendars follow each other") else {
        return;
    };
    let run = scene.start();
    wait_for("agents are at work", || scene.arena.records("agent_spawned") > 1);
    // The one beside it starts another after each death, later each time.
    for n in 0..scene.jumps.len() {
        scene.clock.set(scene.jumps[n]);
        if n < 3 {
            let started = scene.arena.records("coordinator_started");
            signal(run.coordinator(), Signal::KILL);
            wait_for("the next one", || scene.arena.records("coordinator_started") > started);
        }
        scene.jump(n);
    }
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    scene.check(&said);
}
