//! The binary under strace: which system calls it makes, and being killed at one of them.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::world::{Ran, SWARM, World, run};

/// Calls that touch the world, or wait for it. `?` lets strace pass over those that this machine does not have.
const TOUCHING: &[&str] = &[
    "open",
    "openat",
    "openat2",
    "creat",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "sync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "ftruncate",
    "truncate",
    "fallocate",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "copy_file_range",
    "sendfile",
    "flock",
    "chmod",
    "fchmod",
    "fchmodat",
    "utimensat",
    "connect",
    "sendto",
    "sendmsg",
    "vfork",
    "clone",
    "clone3",
];

/// One call of one thread: the n-th of its kind there, from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub syscall: String,
    pub nth: u32,
    /// Only calls on this file are counted.
    pub path: Option<String>,
}

/// A whole run, call by call.
pub struct Trace {
    pub ran: Ran,
    /// Lines of strace in the order of time.
    pub lines: Vec<String>,
}

/// Tests that trace fail with these words where they cannot, they are not passed over.
pub fn require_strace() {
    let traced = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    let hint = "install it (`sudo apt-get install strace`), and in a container allow the system call ptrace";
    match traced {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("strace cannot trace here: {hint}\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => panic!("strace cannot be started ({error}): {hint}"),
    }
}

/// Threads are followed, programs that are started are not: git has promises of its own.
fn strace(world: &World, log: &Path) -> Command {
    let mut command = world.program("strace");
    command.args(["-f", "-b", "execve", "-y", "-s", "64", "-o"]).arg(log);
    command
}

pub fn trace(world: &World, args: &[&str]) -> Trace {
    let log = world.base.join("strace.log");
    let set: Vec<String> = TOUCHING.iter().map(|name| format!("?{name}")).collect();
    let mut command = strace(world, &log);
    command.arg("-e").arg(format!("trace={}", set.join(","))).arg(SWARM).args(args);
    let ran = run(&mut command);
    let lines =
        std::fs::read_to_string(&log).expect("strace wrote its log").lines().map(str::to_owned).collect();
    Trace { ran, lines }
}

/// Runs the command and has it killed when it enters this call.
pub fn killed_at(world: &World, args: &[&str], point: &Point) -> Ran {
    let log = world.base.join("strace.log");
    let Point { syscall, nth, path } = point;
    let mut command = strace(world, &log);
    if let Some(path) = path {
        command.args(["-P", path.replace(TEMPLATE_BASE, &world.base.display().to_string()).as_str()]);
    }
    command.args([
        "-e",
        &format!("trace={syscall}"),
        "-e",
        &format!("inject={syscall}:signal=KILL:when={nth}"),
    ]);
    run(command.arg(SWARM).args(args))
}

/// Stands for the folder of the world in the paths of points, which are used in copies of it.
const TEMPLATE_BASE: &str = "{base}";

impl Trace {
    /// Every place it can be killed at.
    ///
    /// strace counts per thread, so of two threads that both make a first `pwrite64` only the quicker one is met. The
    /// other one is told apart by its file. What is left are syncs of the same file: whoever is killed when entering
    /// one leaves the same bytes as when entering the call after it, which is met.
    pub fn points(&self, base: &Path) -> Vec<Point> {
        let base = base.display().to_string();
        let calls: Vec<Call<'_>> = self.lines.iter().filter_map(|line| Call::read(line)).collect();
        let mut points = std::collections::BTreeSet::new();
        let mut counts: BTreeMap<(&str, &str, Option<&str>), u32> = BTreeMap::new();
        for call in &calls {
            let mut nth_of = |path| {
                let nth = counts.entry((call.thread, call.syscall, path)).or_default();
                *nth += 1;
                *nth
            };
            let plain = Point { syscall: call.syscall.into(), nth: nth_of(None), path: None };
            let named = call.path.map(|path| Point {
                syscall: call.syscall.into(),
                nth: nth_of(Some(path)),
                path: Some(path.replace(&base, TEMPLATE_BASE)),
            });
            if call.wakes_a_thread {
                continue;
            }
            if points.insert(plain) || named.is_some_and(|named| points.insert(named)) {
                continue;
            }
            assert!(call.syscall.ends_with("sync"), "this call cannot be met: {call:?}");
        }
        points.into_iter().collect()
    }
}

#[derive(Debug)]
struct Call<'a> {
    thread: &'a str,
    syscall: &'a str,
    /// The file of its first argument, where that is a descriptor, or the whole name it opens.
    path: Option<&'a str>,
    /// A word from one thread to another; the world does not see it.
    wakes_a_thread: bool,
}

impl<'a> Call<'a> {
    /// The call that a line of strace begins; none for its end, for signals and exits.
    fn read(line: &'a str) -> Option<Self> {
        let (thread, rest) = line.split_once(char::is_whitespace)?;
        let (syscall, arguments) = rest.trim_start().split_once('(')?;
        let name = syscall.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let described = arguments.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('<');
        let path = described
            .and_then(|text| text.split_once('>'))
            .map(|(path, _)| path)
            .or_else(|| arguments.starts_with("AT_FDCWD").then(|| arguments.split('"').nth(1)).flatten())
            .filter(|p| p.starts_with('/'));
        let wakes_a_thread = described.is_some_and(|text| text.starts_with("anon_inode:[eventfd"));
        name.then_some(Self { thread, syscall, path, wakes_a_thread })
    }
}

/// At most so many. What changes files is always among them; calls that only look or start something are spread.
pub fn spread(points: Vec<Point>, most: usize) -> Vec<Point> {
    let looks =
        |point: &Point| matches!(point.syscall.as_str(), "open" | "openat" | "clone" | "clone3" | "vfork");
    let (many, mut chosen): (Vec<Point>, Vec<Point>) = points.into_iter().partition(looks);
    let room = most.saturating_sub(chosen.len()).clamp(2, many.len().max(2));
    // The first and the last among them.
    let spread = (0..room).filter_map(|at| many.get(at * (many.len().max(1) - 1) / (room - 1)));
    chosen.extend(spread.cloned());
    chosen.dedup();
    chosen
}
