//! Lock files that somebody removes, replaces or moves away while a swarm is at work; a file system without locks; a repository
//! that is mounted at two places. Nothing is done twice, and nobody writes who is not alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::arena::{Arena, Running, files_below, wait_for};
use crate::at_once::all_play;
use crate::ground::{arena_with, has, scaled};
use crate::namespace::{Standing, enter, not_proven};
use crate::victims::{Party, signal};
use rustix::process::Signal;
use serde_json::json;

#[derive(Debug, Clone, Copy)]
enum Loss {
    Removed,
    Replaced,
    Moved,
}

/// What is lost: how its name ends.
const LOCKS: &[&str] =
    &["daemons/r1.lock", "owner.lock", "door.lock", "1.1.held", "worktrees.lock", "1.1.lock"];

fn lose(file: &Path, loss: Loss) {
    let bytes = std::fs::read(file).expect("a lock file");
    match loss {
        Loss::Moved => return std::fs::rename(file, file.with_extension("aside")).expect("moved"),
        Loss::Removed | Loss::Replaced => std::fs::remove_file(file).expect("removed"),
    }
    if matches!(loss, Loss::Replaced) {
        std::fs::write(file, bytes).expect("another one");
    }
}

fn find(arena: &Arena, name: &str) -> Vec<PathBuf> {
    let places = [arena.root.join(".swarm/run"), arena.root.join(".git/swarm")];
    places.iter().flat_map(|place| files_below(place, name)).collect()
}

/// The lock goes, then the coordinator dies: the next one finds the agent at its work, and lets it go on.
fn check_lost(name: &str, loss: Loss) {
    let arena = arena_with(json!({ "agent": "script" }));
    let go = arena.path("go");
    let script = format!(
        "write work/a.txt a\ncommit feat: a\nwait-for {}\nwrite work/b.txt b\ncommit feat: b\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    let daemon = arena.living(Party::Daemon);
    let files = find(&arena, name);
    assert!(!files.is_empty(), "{name} is no lock of a swarm at work");
    files.iter().for_each(|file| lose(file, loss));
    // One that has lost its own lock ends by itself, and may have done so.
    if let Some(coordinator) = arena.living(Party::Coordinator).first() {
        signal(*coordinator, Signal::KILL);
    }
    let again = |run: Running| {
        std::fs::write(&go, "").expect("the gate opens");
        run.end()
    };
    wait_for("another coordinator", || arena.records("coordinator_started") > 1 || run_is_over(&arena));
    let (code, said) = again(run);
    let said = match code {
        0 => said,
        _ => format!("{said}\n{}", again(arena.start(&[])).1),
    };
    arena.assert_all_done();
    assert_eq!(arena.starts("1.1"), 1, "the daemon {daemon:?} went over to the new one: {said}");
    for file in ["work/a.txt", "work/b.txt"] {
        let commits = arena.git(&["log", "--format=%h", "main", "--", file]);
        assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {said}");
    }
    for aside in find(&arena, ".aside") {
        std::fs::remove_file(aside).expect("it was put there by the test");
    }
    arena.assert_tidy();
}

fn run_is_over(arena: &Arena) -> bool {
    arena.living(Party::Watcher).is_empty()
}

#[test]
fn a_lock_file_that_is_removed_replaced_or_moved_costs_no_agent_its_work() {
    let all: Vec<(&str, Loss)> = LOCKS
        .iter()
        .flat_map(|name| [Loss::Replaced, Loss::Removed, Loss::Moved].map(|loss| (*name, loss)))
        .collect();
    let step = usize::try_from(scaled(4, 1)).expect("small");
    let some: Vec<(&str, Loss)> = all.into_iter().step_by(step).collect();
    all_play(&some, 4, |(name, loss)| check_lost(name, *loss));
}

/// As on a disk of another machine whose server has no locks: `answer` is what the kernel says of each.
fn without_locks(arena: &Arena, answer: &str, args: &[&str]) -> Output {
    let swarm = arena.command(args);
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=flock",
        "-e",
        &format!("inject=flock:{answer}"),
    ]);
    strace.arg(swarm.get_program()).args(swarm.get_args());
    for (name, value) in swarm.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    strace.output().expect("strace starts: `sudo apt-get install strace`")
}

#[test]
fn where_locks_keep_nobody_out_no_swarm_begins_and_each_command_says_so() {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let before = std::fs::read(arena.ledger()).expect("a ledger");
    // It says that it has none, or gives the same one to everybody.
    for answer in ["error=ENOLCK", "error=EOPNOTSUPP", "retval=0"] {
        for args in [&["run", "--agent", "script"][..], &["task", "add", "another"]] {
            let out = without_locks(&arena, answer, args);
            let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
            assert_eq!(out.status.code(), Some(3), "{answer} {args:?}: {said}");
            has(&said, &["The file system keeps nobody out of a locked file", "a disk of this machine"]);
        }
        let out = without_locks(&arena, answer, &["doctor"]);
        has(&String::from_utf8_lossy(&out.stdout), &["it has no locks that keep a second swarm out"]);
        assert!(without_locks(&arena, answer, &["status"]).status.success(), "who only looks needs none");
    }
    assert_eq!(std::fs::read(arena.ledger()).expect("a ledger"), before, "nobody wrote");
    assert!(find(&arena, "probe.lock").is_empty(), "what was tried is taken away");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_tidy();
}

const TWICE: &str = "lock_files::a_repository_that_is_mounted_at_two_places_has_one_coordinator";

#[test]
fn a_repository_that_is_mounted_at_two_places_has_one_coordinator() {
    match enter(TWICE) {
        Standing::Done => {}
        Standing::Inside => mounted_twice(),
        Standing::NotHere(why) => not_proven(TWICE, &why),
    }
}

fn mounted_twice() {
    let arena = arena_with(json!({ "agent": "script" }));
    let (go, there) = (arena.path("go"), arena.path("there"));
    let script = format!("write a.txt a\nwait-for {}\ncommit feat: a\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    std::fs::create_dir(&there).expect("a folder");
    let mounted = Command::new("mount").arg("--bind").arg(&arena.root).arg(&there).status();
    assert!(mounted.is_ok_and(|status| status.success()), "mounted a second time");
    let mut run = arena.start(&[]);
    run.until("is working");
    let winner = run.coordinator();
    let (code, said) = Running::of(arena.command_in(&there, &["run", "--agent", "script"])).end();
    assert!(matches!(code, 1 | 3), "{code}: {said}");
    has(&said, &[&format!("pid {winner} "), "swarm status --watch"]);
    // Whoever stands there reaches the one that works.
    let added =
        arena.command_in(&there, &["task", "add", "Another", "--id", "1.2"]).output().expect("it runs");
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    arena.ok(&["task", "cancel", "1.2"]);
    std::fs::write(go, "").expect("the gate opens");
    let (code, said) = run.end();
    let _ = Command::new("umount").arg(&there).status();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.records("coordinator_started"), 1, "one wrote");
    assert_eq!(arena.commits("main", "feat: a"), 1);
    arena.assert_tidy();
}
