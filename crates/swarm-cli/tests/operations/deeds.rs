//! One operation while others work: looked at, done, and measured from outside. What the table says, what the
//! preview says and what happens must be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::arena::{Arena, wait_for};
use crate::outside::files;
use crate::processes::{Alive, Process, alive, coordinators, runs_at};

/// An operation, whom it stops, and what holds afterwards.
pub struct Deed {
    pub ask: &'static [&'static str],
    pub stops: Stops,
    pub then: fn(&Arena, &Seen),
}

/// Worktrees whose processes end: those of tasks, and that of merges.
#[derive(Debug, Clone, Copy)]
pub enum Stops {
    Nobody,
    These(&'static [&'static str]),
    Everybody,
}

/// What was there before a deed.
#[derive(Debug, Clone)]
pub struct Seen {
    pub alive: BTreeMap<String, Alive>,
    pub refs: BTreeMap<String, String>,
    /// Files of the worktree of each task.
    pub worktrees: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    pub checkout: BTreeMap<String, Vec<u8>>,
    coordinators: BTreeSet<Process>,
}

impl Seen {
    pub fn of(arena: &Arena) -> Self {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let worktrees = arena.worktrees();
        Self {
            alive: alive(arena),
            refs: refs(arena),
            worktrees: worktrees.iter().map(|path| (name(path), files(Path::new(path)))).collect(),
            checkout: files(&arena.root),
            coordinators: coordinators(arena),
        }
    }

    pub fn trunk(&self) -> &str {
        &self.refs["refs/heads/main"]
    }
}

pub fn refs(arena: &Arena) -> BTreeMap<String, String> {
    let all = arena.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    all.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

/// The bytes of a file in a commit; none: it has none of this name.
pub fn bytes_at(arena: &Arena, commit: &str, file: &str) -> Option<Vec<u8>> {
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(&arena.root).args(["cat-file", "blob", &format!("{commit}:{file}")]);
    let out = git.output().expect("git runs");
    out.status.success().then_some(out.stdout)
}

/// Looks at the preview, does it, and compares with what can be seen from outside.
pub fn check(arena: &Arena, deed: &Deed) {
    let what = format!("swarm {}", deed.ask.join(" "));
    println!("{what}");
    let before = Seen::of(arena);
    let stopped: BTreeSet<String> = match deed.stops {
        Stops::Nobody => BTreeSet::new(),
        Stops::Everybody => before.alive.keys().cloned().collect(),
        Stops::These(places) => places.iter().flat_map(|place| runs_at(&before.alive, place)).collect(),
    };
    if let Stops::These(places) = deed.stops {
        assert_eq!(stopped.len(), places.len(), "{what}: {places:?} are at work: {:?}", before.alive);
    }
    let preview = preview(arena, deed.ask);
    let says = preview.as_ref().map(stops);
    if let Some(says) = &says {
        let named: BTreeSet<String> = says.keys().cloned().collect();
        assert_eq!(named, stopped, "{what}: the preview names whom it stops");
        let same = alive(arena);
        assert!(before.alive.iter().all(|(run, was)| lives_on(was, same.get(run))), "{what}: a look");
        assert_eq!(refs(arena), before.refs, "{what}: a look moves no ref");
    }
    arena.ok(deed.ask);
    wait_for("those it stops are gone", || {
        let now = alive(arena);
        stopped.iter().all(|run| !now.contains_key(run))
    });
    let now = alive(arena);
    for (run, was) in before.alive.iter().filter(|(run, _)| !stopped.contains(*run)) {
        assert!(lives_on(was, now.get(run)), "{what}: {run} at {} goes on: {was:?}, {now:?}", was.place);
    }
    for run in &stopped {
        let at = &before.alive[run].place;
        let kept = says.as_ref().map(|says| &says[run]);
        work_is_kept(arena, &before, (run, at), kept, &what);
    }
    if let Some(preview) = &preview {
        what_leaves_a_worktree_is_kept(arena, &before, preview, &what);
    }
    assert!(before.coordinators.is_subset(&coordinators(arena)), "{what}: the coordinator goes on");
    let own = |files: &BTreeMap<String, Vec<u8>>| files.get("mine.txt").cloned();
    assert_eq!(own(&files(&arena.root)), own(&before.checkout), "{what}: the person's file");
    (deed.then)(arena, &before);
    no_task_twice(arena);
    trunk_was_always_whole(arena, &what);
}

/// The same run, by number and moment of birth of the process that it began with: what that one starts comes and goes.
fn lives_on(was: &Alive, now: Option<&Alive>) -> bool {
    let first = was.processes.iter().min_by_key(|(_, born)| born.parse::<u64>().unwrap_or(u64::MAX));
    now.is_some_and(|now| first.is_some_and(|first| now.processes.contains(first)))
}

/// What the preview says; none where there is none.
fn preview(arena: &Arena, ask: &[&str]) -> Option<Value> {
    let looks = !ask.starts_with(&["checkpoint"]);
    let look = ask.iter().filter(|word| **word != "--yes").chain(&["--dry-run"]).copied();
    looks.then(|| arena.json(&look.collect::<Vec<_>>()))
}

/// Runs that it says it stops.
fn stops(preview: &Value) -> BTreeMap<String, Value> {
    let stops = preview["stops"].as_array().expect("a list").iter();
    stops.map(|stop| (stop["run"].as_str().expect("a run").to_owned(), stop.clone())).collect()
}

/// Files that are in no commit of the task's branch.
fn loose<'a>(arena: &Arena, before: &'a Seen, task: &str) -> BTreeMap<&'a str, &'a Vec<u8>> {
    let branch = format!("refs/heads/swarm/{task}");
    let (Some(tip), Some(files)) = (before.refs.get(&branch), before.worktrees.get(task)) else {
        return BTreeMap::new();
    };
    let committed = |file: &str, bytes: &Vec<u8>| bytes_at(arena, tip, file).as_ref() == Some(bytes);
    let files = files.iter().map(|(file, bytes)| (file.as_str(), bytes));
    files.filter(|(file, bytes)| !committed(file, bytes)).collect()
}

/// A worktree that is set back or goes: the preview names the checkpoint that has its files, and it has them.
fn what_leaves_a_worktree_is_kept(arena: &Arena, before: &Seen, preview: &Value, what: &str) {
    let moved = preview["plan"]["worktrees"].as_array().into_iter().flatten();
    for task in moved.filter_map(|one| one["task"].as_str()) {
        let (loose, checkpoint) = (loose(arena, before, task), preview["checkpoint"].as_str().expect("one"));
        let lines = preview["says"]["work"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let named = |line: &str| line.contains(&format!(" {task} ")) && line.ends_with(checkpoint);
        assert!(loose.is_empty() || lines.clone().any(named), "{what}: {task} is named: {preview:#}");
        for (file, bytes) in loose {
            let kept = bytes_at(arena, &format!("refs/swarm/checkpoints/{checkpoint}/dirty/{task}"), file);
            assert!(kept.as_ref() == Some(bytes), "{what}: {file} of {task} is in {checkpoint}");
        }
    }
}

/// What was not committed is at the ref of the run, byte for byte, and the preview has named ref and files.
fn work_is_kept(arena: &Arena, before: &Seen, (run, task): (&str, &str), said: Option<&Value>, what: &str) {
    let loose = loose(arena, before, task);
    let name = format!("refs/swarm/wip/{task}/{run}");
    for (file, bytes) in &loose {
        let kept = bytes_at(arena, &name, file);
        assert!(kept.as_ref() == Some(*bytes), "{what}: {file} of {task} is at {name}");
    }
    let Some(said) = said else { return };
    let named: BTreeSet<&str> =
        said["files"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let loose: BTreeSet<&str> = loose.keys().copied().collect();
    assert_eq!(named, loose, "{what}: the files of {task} that the preview names");
    let at = if loose.is_empty() { Value::Null } else { Value::from(name) };
    assert_eq!(said["savedTo"], at, "{what}: where the work of {task} is kept");
}

/// One run at most in each worktree.
fn no_task_twice(arena: &Arena) {
    wait_for("nobody works twice on one task", || {
        let now = alive(arena);
        let places: Vec<&str> =
            now.values().map(|alive| alive.place.as_str()).filter(|place| !place.is_empty()).collect();
        let different: BTreeSet<&str> = places.iter().copied().collect();
        different.len() == places.len()
    });
}

/// Work of a task is two commits with a file each: trunk had both or neither at every moment git remembers.
pub fn trunk_was_always_whole(arena: &Arena, what: &str) {
    let log = arena.git(&["log", "--walk-reflogs", "--format=%H", "main"]);
    let moments: BTreeSet<&str> = log.lines().collect();
    for commit in moments {
        let tree = arena.git(&["ls-tree", "--name-only", commit]);
        let has = |name: &str| tree.lines().any(|line| line == name);
        for first in tree.lines().filter(|name| name.starts_with("first-")) {
            let second = first.replace("first-", "second-");
            assert!(has(&second), "{what}: trunk at {commit} has {first} without {second}");
        }
        let halves = tree.lines().filter(|name| name.starts_with("second-"));
        for second in halves {
            assert!(has(&second.replace("second-", "first-")), "{what}: {second} alone at {commit}");
        }
    }
}

/// Refused: the reason and a next command are said, and nothing is different.
pub fn check_refused(arena: &Arena, ask: &[&str], why: &str, next: &str) {
    let what = format!("swarm {}", ask.join(" "));
    let before = (refs(arena), files(&arena.root), alive(arena));
    let out = arena.swarm(ask);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{what}: {said}");
    assert!(said.contains(why) && said.contains(next), "{what}: {said}");
    let (refs_now, files_now, alive_now) = (refs(arena), files(&arena.root), alive(arena));
    assert_eq!(refs_now, before.0, "{what}: refs");
    assert!(files_now == before.1, "{what}: the checkout");
    for (run, was) in &before.2 {
        assert!(lives_on(was, alive_now.get(run)), "{what}: {run} goes on");
    }
}
