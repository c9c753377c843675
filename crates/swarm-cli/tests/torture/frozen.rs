//! One party of a swarm is stopped by a signal, as by a debugger, a machine that swaps or a person's Ctrl+Z, while agents
//! work, while their work is merged, and while the swarm stops. Every command answers, a stop comes to its end, and once the
//! party goes on (or was ended) everything is done, each thing once.
//!
//! A spread of the cases; `SWARM_TRIALS=full` takes all, and leaves each party stopped for a hundred seconds as well.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::arena::{Arena, Running, holds_within, wait_for};
use crate::at_once::all_play;
use crate::ground::scaled;
use crate::victims::{Party, is_stopped, signal};

/// A person waits no longer for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// With what is stopped in its way a stop has to end it first.
const STOP_WITHIN: Duration = Duration::from_secs(30);

const PARTIES: &[Party] =
    &[Party::Watcher, Party::Coordinator, Party::Daemon, Party::Launcher, Party::Agent, Party::Git];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Working,
    Merging,
    Stopping,
}

/// How it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The party goes on after so long.
    GoesOn(Duration),
    /// The person stops the swarm, and nobody lets the party go on.
    Stop,
}

#[derive(Debug, Clone, Copy)]
struct Case {
    party: Party,
    when: When,
    then: Then,
}

/// All of them: two parts are left out where a stop is what happens anyway.
fn cases() -> Vec<Case> {
    let moment = Then::GoesOn(Duration::from_secs(1));
    let mut cases = vec![];
    for &party in PARTIES {
        for (when, then) in [
            (When::Working, moment),
            (When::Merging, Then::Stop),
            (When::Stopping, Then::Stop),
            (When::Working, Then::Stop),
            (When::Merging, moment),
        ] {
            cases.push(Case { party, when, then });
        }
    }
    cases
}

struct Scene {
    arena: Arena,
    case: Case,
    /// The agent of the first task waits until it is there.
    go: PathBuf,
    /// Verification waits until it is gone.
    hold: PathBuf,
    /// The next git stops itself while it is there.
    slow: PathBuf,
}

impl Scene {
    fn new(case: Case) -> Self {
        let place = tempfile::tempdir().expect("a temporary folder");
        let [go, hold, slow] = ["go", "hold", "slow"].map(|name| place.path().join(name));
        let verify = format!("while test -e {}; do sleep 0.1; done", hold.display());
        let config = json!({
            "mode": "autopilot",
            "verify": { "commands": [verify] },
            "recovery": { "maxRetries": 2, "backoffMax": "1s" },
            "stop": { "grace": "1s", "drain": "1s" },
            "disk": { "low": 64, "enough": 96 },
        });
        let scene = Self { arena: Arena::inside(place, &config.to_string()), case, go, hold, slow };
        let first = format!(
            "write work/a.txt a\ncommit feat: a\nwait-for {}\nwrite work/b.txt b\ncommit feat: b\ncomplete",
            scene.go.display()
        );
        let second = "write work/c.txt c\ncommit feat: c\ncomplete".to_owned();
        scene.arena.plan(&[("1.1", &[], first), ("1.2", &["1.1"], second)]);
        scene.put_git_before();
        scene
    }

    /// A git that stops itself, once.
    fn put_git_before(&self) {
        let dir = self.arena.path("shim");
        std::fs::create_dir_all(&dir).expect("a folder");
        let real = Command::new("sh").args(["-c", "command -v git"]).output().expect("there is a shell");
        let real = String::from_utf8(real.stdout).expect("text");
        let (slow, once) = (self.slow.display(), self.arena.path("once"));
        let once = once.display();
        let script = format!(
            "#!/bin/sh\nif test -e {slow} && mkdir {once} 2>/dev/null\n\
             then echo $$ >{once}/pid; kill -STOP $$\nfi\nexec {} \"$@\"\n",
            real.trim()
        );
        std::fs::write(dir.join("git"), script).expect("a file");
        std::fs::set_permissions(dir.join("git"), std::fs::Permissions::from_mode(0o755)).expect("ours");
    }

    fn start(&self) -> Running {
        let mut run = self.arena.command(&["run", "--agent", "script", "--mode", "autopilot"]);
        let path = std::env::var("PATH").unwrap_or_default();
        run.env("PATH", format!("{}:{path}", self.arena.path("shim").display()));
        Running::of(run)
    }

    fn open(&self) {
        let _ = std::fs::remove_file(&self.hold);
        std::fs::write(&self.go, "").expect("a file");
    }

    fn play(&self) {
        let Case { party, when, then } = self.case;
        if when == When::Merging {
            std::fs::write(&self.hold, "").expect("a file");
        }
        let mut run = self.start();
        wait_for("the agent is at work", || {
            self.arena.root.join(".swarm/worktrees/1.1/work/a.txt").exists()
                && !self.arena.living(Party::Agent).is_empty()
        });
        if when == When::Merging {
            std::fs::write(&self.go, "").expect("a file");
            wait_for("its work is verified", || self.arena.records("verification_started") > 0);
        }
        let stop = (when == When::Stopping).then(|| {
            let stop = Running::of(self.arena.command(&["stop"]));
            run.until("stopping");
            stop
        });
        let stopped = self.freeze(party, when);
        for command in ["status", "doctor", "attention"] {
            self.answers(command, stopped);
        }
        match then {
            Then::GoesOn(after) => {
                holds_within(after, || false);
                self.open();
                if let Some(pid) = stopped {
                    signal(pid, Signal::CONT);
                }
            }
            Then::Stop => {
                let stop = stop.unwrap_or_else(|| Running::of(self.arena.command(&["stop"])));
                self.stops(stop, &run, stopped);
            }
        }
        let (_, said) = run.end();
        self.open();
        self.ends(&said);
    }

    /// Stops the party; none when it was gone already, as it may be in a swarm that stops.
    fn freeze(&self, party: Party, when: When) -> Option<u32> {
        let found = match party {
            Party::Git => {
                std::fs::write(&self.slow, "").expect("a file");
                self.open();
                let once = self.arena.path("once/pid");
                let mut found = None;
                wait_for("a git has stopped itself", || {
                    found = std::fs::read_to_string(&once).ok().and_then(|text| text.trim().parse().ok());
                    found.is_some_and(is_stopped) || when == When::Stopping
                });
                let _ = std::fs::remove_file(&self.slow);
                found
            }
            party => {
                // The program that verifies stands where an agent does, a moment after its record.
                let party =
                    if when == When::Merging && party == Party::Agent { Party::Launcher } else { party };
                let mut found = None;
                wait_for("somebody to stop", || {
                    found = self.arena.living(party).last().copied();
                    found.is_some() || when == When::Stopping
                });
                found
            }
        };
        let found = found.filter(|pid| signal(*pid, Signal::STOP));
        assert!(found.is_some() || when == When::Stopping, "nobody to stop: {:?}", self.arena.processes());
        found
    }

    fn answers(&self, command: &str, stopped: Option<u32>) {
        let began = Instant::now();
        let out = self.arena.swarm(&[command]);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(began.elapsed() < ANSWER_WITHIN, "{command} took {:?}: {said}", began.elapsed());
        // The others are nobody's business unless they stay so.
        if let Some(pid) = stopped.filter(|_| self.case.party == Party::Coordinator)
            && self.case.when != When::Stopping
        {
            assert!(said.contains(&format!("kill -CONT {pid}")), "{command}: {said}");
        }
    }

    fn stops(&self, mut stop: Running, run: &Running, stopped: Option<u32>) {
        let began = Instant::now();
        let in_time = stop.for_a_while(STOP_WITHIN);
        assert!(in_time, "the stop does not end: {}", self.arena.processes().join("\n"));
        let (code, said) = stop.end();
        assert_eq!(code, 0, "{said} after {:?}", began.elapsed());
        // Only its own terminal, or whoever has stopped it, lets the person's process go on.
        let is_watcher = self.case.party == Party::Watcher;
        if let Some(pid) = stopped.filter(|_| is_watcher) {
            signal(pid, Signal::CONT);
        }
        let child = run.child.id();
        let left = || -> Vec<String> {
            let all = self.arena.processes().into_iter();
            all.filter(|process| !process.starts_with(&format!("{child} "))).collect()
        };
        assert!(holds_within(STOP_WITHIN, || left().is_empty()), "after the stop: {:?}", left());
    }

    fn ends(&self, before: &str) {
        let _ = self.arena.swarm(&["resume"]);
        let (code, said) = self.arena.start(&[]).end();
        assert_eq!(code, 0, "{before}\n{said}");
        self.arena.assert_all_done();
        for file in ["a", "b", "c"] {
            let commits = self.arena.git(&["log", "--format=%h", "main", "--", &format!("work/{file}.txt")]);
            assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {before}\n{said}");
        }
        let blamed = |text: &str| text.contains("crashed") || text.contains("out of service");
        assert!(!blamed(before) && !blamed(&said), "nobody is to blame: {before}\n{said}");
        self.arena.assert_tidy();
    }
}

#[test]
fn whoever_is_stopped_by_a_signal_is_answered_for_and_everything_ends_once() {
    let all = cases();
    // One of each party but one, and of each moment: every seventh, with five of each party.
    let step = scaled(7, 1);
    // A git that is stopped while an agent hands in is ended after a while, and a person is asked: not held yet.
    let tried = |case: &&Case| step == 1 || case.party != Party::Git;
    let some: Vec<Case> =
        all.iter().step_by(usize::try_from(step).expect("small")).filter(tried).copied().collect();
    all_play(&some, 4, |case| Scene::new(*case).play());
}

#[test]
fn whoever_was_stopped_for_long_goes_on_and_nothing_is_done_twice() {
    // An agent that says nothing for longer is called silent, whoever keeps it from speaking.
    let time = Duration::from_secs(scaled(0, 100));
    if time.is_zero() {
        return;
    }
    let all: Vec<Case> = PARTIES
        .iter()
        .map(|party| Case { party: *party, when: When::Working, then: Then::GoesOn(time) })
        .collect();
    all_play(&all, all.len(), |case| Scene::new(*case).play());
}
