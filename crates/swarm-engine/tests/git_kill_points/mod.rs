//! kill -9 at a chosen system call, through strace.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// System calls of git after which something is different.
const CHANGING_OF_GIT: &str = "link,linkat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,\
     write,pwrite64,ftruncate,utimensat,chmod,fchmod";

/// The n-th call of one kind: strace counts each kind for itself, in each process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub call: String,
    pub nth: usize,
}

impl Point {
    /// All points of a log of strace, in order, each once.
    pub fn all_in(log: &str) -> Vec<Self> {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut points = Vec::new();
        for (head, _) in log.lines().filter_map(|line| line.split_once('(')) {
            // With several processes a line starts with the process.
            let (process, call) = head.rsplit_once(' ').unwrap_or(("", head));
            let count = counts.entry((process, call)).or_default();
            *count += 1;
            let point = Self { call: call.to_owned(), nth: *count };
            let is_name = call.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if is_name && seen.insert(point.clone()) {
                points.push(point);
            }
        }
        points
    }
}

pub fn someone_was_killed(log: &str) -> bool {
    log.contains("killed by SIGKILL")
}

/// About `some` of the points, evenly; all with `SWARM_KILL_POINTS=all`. `turn` shifts the first one, so that
/// several series do not meet the same steps.
pub fn spread(points: &[Point], some: usize, turn: usize) -> impl Iterator<Item = &Point> {
    let all = std::env::var("SWARM_KILL_POINTS").is_ok_and(|value| value == "all");
    let step = if all { 1 } else { points.len().div_ceil(some).max(1) };
    points.iter().skip(turn % step).step_by(step)
}

/// A call of strace for a program of our own: with a point the program, or a git it has started, is killed there.
pub fn under_strace(log: &Path, at: Option<&Point>) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", &format!("trace={CHANGING_OF_GIT}"), "-o"]).arg(log);
    if let Some(Point { call, nth }) = at {
        strace.args(["-e", &format!("inject={call}:signal=SIGKILL:when={nth}")]);
    }
    strace
}

/// Puts a `git` into `dir` that runs the real one, and the named command under strace: with a point it is killed
/// there, and `with_parent` the program that started it too, before it can notice.
pub fn write_shim(dir: &Path, name: &str, log: &Path, at: Option<&Point>, with_parent: bool) {
    let found = Command::new("sh")
        .args(["-c", "command -v git && command -v strace"])
        .output()
        .expect("there is a shell");
    assert!(found.status.success(), "strace is missing: install it with `apt-get install strace`");
    let found = String::from_utf8(found.stdout).expect("paths of programs are text");
    let real = found.lines().next().expect("git was found");
    let inject = at
        .map(|Point { call, nth }| format!("-e inject={call}:signal=SIGKILL:when={nth}"))
        .unwrap_or_default();
    let then = if with_parent { "kill -9 $PPID" } else { ":" };
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in\n*' {name} '*) ;;\n*) exec {real} \"$@\" ;;\nesac\n\
         strace -f -qq -e trace={CHANGING_OF_GIT} {inject} -o {log} {real} \"$@\"\ncode=$?\n\
         if [ $code -eq 137 ]; then {then}; kill -9 $$; fi\nexit $code\n",
        log = log.display()
    );
    std::fs::create_dir_all(dir).expect("a folder can be made");
    std::fs::write(dir.join("git"), script).expect("a file can be written");
    std::fs::set_permissions(dir.join("git"), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}
