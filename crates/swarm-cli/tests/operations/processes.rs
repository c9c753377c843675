//! Who lives, by the kernel's own list: the processes of each run, and where they work.

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::Arena;

/// A process that cannot be mistaken for a later one with the same number.
pub type Process = (u32, String);

/// The processes of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alive {
    /// The worktree that its program works in, by its last name: a task, or that of merges.
    pub place: String,
    pub processes: BTreeSet<Process>,
}

/// Every run that has a process now. What a program started for moments is left out.
pub fn alive(arena: &Arena) -> BTreeMap<String, Alive> {
    let mut runs: BTreeMap<String, Alive> = BTreeMap::new();
    let worktrees = arena.worktrees();
    for line in arena.processes() {
        let (pid, command) = line.split_once(' ').unwrap_or((&line, ""));
        let Some(run) = run_of(pid, command) else { continue };
        let found = runs.entry(run).or_default();
        if let Some(place) = place_of(&worktrees, pid, command) {
            found.place = place;
        }
        if !command.starts_with("sleep ") {
            found.processes.insert((pid.parse().expect("a number"), born(pid)));
        }
    }
    // A daemon whose program has not begun yet, or has ended, works nowhere.
    runs.retain(|_, alive| !alive.processes.is_empty());
    runs
}

/// `swarm run`, and the coordinator that it watches.
pub fn coordinators(arena: &Arena) -> BTreeSet<Process> {
    let all = arena.processes();
    let lines = all.iter().filter_map(|line| line.split_once(' '));
    let runs = lines.filter(|(_, command)| command.split_whitespace().any(|word| word == "run"));
    runs.map(|(pid, _)| (pid.parse().expect("a number"), born(pid))).collect()
}

/// The runs that work in the worktree of this task.
pub fn runs_at(alive: &BTreeMap<String, Alive>, place: &str) -> Vec<String> {
    alive.iter().filter(|(_, found)| found.place == place).map(|(run, _)| run.clone()).collect()
}

/// A program has its run in its environment, the daemon in the file that it was given.
fn run_of(pid: &str, command: &str) -> Option<String> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let environ = String::from_utf8_lossy(&environ).into_owned();
    let named = environ.split('\0').find_map(|entry| entry.strip_prefix("SWARM_RUN="));
    let of_spec = || spec_of(command)?.rsplit('/').next()?.split('.').next();
    named.or_else(of_spec).map(str::to_owned)
}

/// Where a program works, or where the daemon has it work: between two iterations it has none.
fn place_of(worktrees: &[String], pid: &str, command: &str) -> Option<String> {
    let cwd = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    let inside = worktrees.iter().find(|path| cwd.starts_with(path)).cloned();
    let given = || {
        let spec = std::fs::read_to_string(spec_of(command)?).ok()?;
        let spec: serde_json::Value = serde_json::from_str(&spec).ok()?;
        spec["worktree"].as_str().map(str::to_owned)
    };
    inside.or_else(given)?.rsplit('/').next().map(str::to_owned)
}

fn spec_of(command: &str) -> Option<&str> {
    command.split_whitespace().skip_while(|word| *word != "--spec").nth(1)
}

/// When it was started, in the kernel's own count.
fn born(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(19).unwrap_or_default().to_owned()
}
