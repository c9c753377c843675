//! No more files, no more memory, no more threads: for the coordinator or for a daemon, while work is handed in and merged.
//! Whoever cannot go on says so and is followed by another; nobody is blamed, nothing circles, and with room again all is done.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, prlimit};
use serde_json::json;

use crate::arena::{Arena, holds_within, wait_for};
use crate::at_once::all_play;
use crate::ground::{arena_with, scaled};
use crate::victims::{Party, signal};

const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Long enough that whoever needs something meets the want of it, again and again.
const WANT: Duration = Duration::from_secs(3);

/// With a pause of a second after each death, later more: a circle would have many.
const DEATHS_MAX: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Files,
    Memory,
    Threads,
    /// The kernel starts no program and no thread.
    Programs,
}

const CASES: &[(Party, Of)] = &[
    (Party::Coordinator, Of::Memory),
    (Party::Coordinator, Of::Threads),
    (Party::Daemon, Of::Programs),
    (Party::Daemon, Of::Memory),
    (Party::Daemon, Of::Threads),
    (Party::Coordinator, Of::Files),
    (Party::Coordinator, Of::Programs),
    // Not held yet: what its agent has handed in meanwhile is told as a branch that somebody moved.
    (Party::Daemon, Of::Files),
];

/// Lasts until it is dropped.
struct Want {
    pid: u32,
    before: Option<(Resource, Rlimit)>,
    strace: Option<Child>,
}

impl Want {
    fn of(what: Of, pid: u32) -> Self {
        let unlimited = |resource| getrlimit(resource).maximum;
        let limited = |resource, most: u64| {
            let limit = Rlimit { current: Some(most), maximum: unlimited(resource) };
            let process = Pid::from_raw(pid.cast_signed()).expect("a process");
            let before = prlimit(Some(process), resource, limit).expect("allowed");
            Self { pid, before: Some((resource, before)), strace: None }
        };
        match what {
            // Whatever is open stays open.
            Of::Files => limited(Resource::Nofile, 3),
            Of::Memory => limited(Resource::As, mapped(pid)),
            Of::Threads => Self::refusing(pid, "clone,clone3", "EAGAIN"),
            Of::Programs => Self::refusing(pid, "clone,clone3,vfork,fork,execve", "ENOMEM"),
        }
    }

    /// A limit of processes does not hold for root: the kernel is made to say no.
    fn refusing(pid: u32, calls: &str, error: &str) -> Self {
        let known: String = calls.split(',').map(|call| format!("?{call},")).collect();
        let known = known.trim_end_matches(',');
        let mut strace = Command::new("strace");
        strace.args(["-f", "-p", &pid.to_string(), "-o", "/dev/null", "-e", &format!("trace={known}")]);
        strace.args(["-e", &format!("inject={known}:error={error}")]).stderr(Stdio::piped());
        let mut strace = strace.spawn().expect("strace starts: `sudo apt-get install strace`");
        let mut line = String::new();
        BufReader::new(strace.stderr.as_mut().expect("its words")).read_line(&mut line).expect("a line");
        assert!(line.contains("attached"), "in a container the system call ptrace has to be allowed: {line}");
        Self { pid, before: None, strace: Some(strace) }
    }
}

impl Drop for Want {
    fn drop(&mut self) {
        if let Some(mut strace) = self.strace.take() {
            // Asked, it lets those go on that it follows.
            signal(strace.id(), Signal::INT);
            let _ = strace.wait();
        }
        if let (Some((resource, limit)), Some(process)) =
            (self.before.take(), Pid::from_raw(self.pid.cast_signed()))
        {
            // It may have died of it.
            let _ = prlimit(Some(process), resource, limit);
        }
    }
}

/// Bytes of address space that it has now.
fn mapped(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find(|line| line.starts_with("VmSize:")).expect("it has memory");
    let kb: u64 = line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number");
    kb << 10
}

fn at_work() -> (Arena, std::path::PathBuf) {
    let arena = arena_with(json!({ "agent": "script", "verify": { "commands": ["test -d work"] } }));
    let go = arena.path("go");
    let first = format!(
        "write work/a.txt a\ncommit feat: a\nwait-for {}\nwrite work/b.txt b\ncommit feat: b\ncomplete",
        go.display()
    );
    let second = "write work/c.txt c\ncommit feat: c\ncomplete".to_owned();
    arena.plan(&[("1.1", &[], first), ("1.2", &["1.1"], second)]);
    (arena, go)
}

fn check(party: Party, of: Of) {
    let (arena, go) = at_work();
    let run = arena.start(&[]);
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    let pid = *arena.living(party).first().expect("it is there");
    let want = Want::of(of, pid);
    std::fs::write(go, "").expect("the gate opens");
    // Without it all would be over in less.
    holds_within(WANT, || arena.records("phase_completed") > 0);
    for command in ["status", "doctor"] {
        let began = Instant::now();
        let out = arena.swarm(&[command]);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(began.elapsed() < ANSWER_WITHIN, "{command} took {:?}: {said}", began.elapsed());
        assert!(matches!(out.status.code(), Some(0 | 1)), "{command}: {said}");
    }
    drop(want);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    for file in ["a", "b", "c"] {
        let commits = arena.git(&["log", "--format=%h", "main", "--", &format!("work/{file}.txt")]);
        assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {said}");
    }
    // A want of the machine is no failed attempt, whoever met it.
    assert!(arena.tasks().iter().all(|task| task["attempts"] == 1), "{said}");
    assert_eq!(arena.attention(), "[]", "nobody is asked and nobody is to blame: {said}");
    let deaths = arena.records("coordinator_started") - 1 + said.matches("its daemon vanished").count();
    assert!(deaths <= DEATHS_MAX, "{deaths} deaths are a circle: {said}");
    arena.assert_tidy();
}

#[test]
fn a_want_of_files_memory_or_threads_ends_nobody_for_good_and_blames_nobody() {
    let many = usize::try_from(scaled(3, CASES.len() as u64)).expect("small");
    all_play(&CASES[..many], 4, |(party, of)| check(*party, *of));
}
