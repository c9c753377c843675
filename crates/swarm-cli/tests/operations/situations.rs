//! At least five operations in each situation: with eight agents at work, and with everybody held.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::deeds::{Deed, Seen, Stops, bytes_at, check, refs, trunk_was_always_whole};
use crate::ground::{arena_with, task};
use crate::processes::{Alive, alive};

/// Done before anything is tried.
const FIRST: &str = "write one.txt one\ncommit feat: one\ncomplete";

/// Writes what is not committed, says that it has, and waits; then the work is two commits.
pub fn worker(arena: &Arena, id: &str, between: &str, go: &str) -> Value {
    let go = arena.path(go).display().to_string();
    let script = format!(
        "write first-{id} {id}\nsh head -c 3000 /dev/urandom > noise-{id}; echo $SWARM_RUN > at-work-{id}\n{between}\n\
         wait-for {go}\nsh git add first-{id} && git commit -q -m 'feat: first of {id}'\n\
         write second-{id} {id}\ncommit feat: second of {id}\ncomplete"
    );
    task(id, &[], &script)
}

pub fn say(arena: &Arena, word: &str) {
    std::fs::write(arena.path(word), "").expect("a file");
}

/// One task is on trunk, and a person has a file of his own lying about.
pub fn begun(arena: &Arena, workers: &[Value], agents: &str) -> Running {
    arena.write("mine.txt", "not for git\n");
    arena.plan_in_phases(&[vec![task("1.1", &[], FIRST)], workers.to_vec()]);
    let run = arena.start(&["--agents", agents]);
    wait_for("the first task is done and cleared away", || {
        arena.commits("main", "feat: one") == 1 && !refs(arena).contains_key("refs/heads/swarm/1.1")
    });
    run
}

/// Agents whose worktree says that this very run has done its part and waits.
pub fn at_work(arena: &Arena) -> BTreeSet<String> {
    let says = |(run, alive): (String, Alive)| {
        let mark = arena.root.join(format!(".swarm/worktrees/{0}/at-work-{0}", alive.place));
        let named = std::fs::read_to_string(mark).unwrap_or_default();
        (named.trim() == run).then_some(alive.place)
    };
    alive(arena).into_iter().filter_map(says).collect()
}

pub fn works(arena: &Arena, many: usize) {
    wait_for("all are at work", || at_work(arena).len() == many);
}

/// Everything is let go and comes to its end.
pub fn finish(arena: &Arena, run: Running) {
    let _ = std::fs::remove_file(arena.path("hold"));
    ["go", "half", "now"].iter().for_each(|word| say(arena, word));
    for change in [
        &["mode", "autopilot"][..],
        &["resume"],
        &["resume", "--reason", "abort"],
        &["task", "start", "--all"],
    ] {
        // Some of them are so already.
        arena.swarm(change);
    }
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    for task in arena.tasks() {
        arena.assert_proven(task["id"].as_str().expect("an id"), "main");
    }
    trunk_was_always_whole(arena, "at the end");
    assert_eq!(std::fs::read_to_string(arena.root.join("mine.txt")).expect("there"), "not for git\n");
    arena.assert_tidy();
}

// What holds afterwards.

/// A task that is taken up meanwhile gets a branch; those that are there stay where they are.
pub fn nothing_moved(arena: &Arena, before: &Seen) {
    let now = refs(arena);
    for (name, at) in before.refs.iter().filter(|(name, _)| name.starts_with("refs/heads/")) {
        assert_eq!(now.get(name), Some(at), "{name}");
    }
}

/// The checkpoint has trunk, and the uncommitted files of everybody, byte for byte.
pub fn mine_has_everything(arena: &Arena, before: &Seen) {
    nothing_moved(arena, before);
    let now = refs(arena);
    assert_eq!(now["refs/swarm/checkpoints/mine/trunk"], before.trunk());
    for (task, files) in before
        .worktrees
        .iter()
        .filter(|(task, _)| before.refs.contains_key(&format!("refs/heads/swarm/{task}")))
    {
        for (file, bytes) in files {
            let kept = bytes_at(arena, &format!("refs/swarm/checkpoints/mine/dirty/{task}"), file);
            let tip = || bytes_at(arena, &format!("refs/swarm/checkpoints/mine/tips/{task}"), file);
            assert!(kept.or_else(tip).as_ref() == Some(bytes), "{file} of {task} is in the checkpoint");
        }
    }
}

fn one_is_gone(arena: &Arena, before: &Seen) {
    assert_ne!(refs(arena)["refs/heads/main"], before.trunk());
    assert!(bytes_at(arena, "main", "one.txt").is_none() && !arena.root.join("one.txt").exists());
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
}

pub fn one_is_there(arena: &Arena, _: &Seen) {
    assert_eq!(bytes_at(arena, "main", "one.txt").as_deref(), Some(&b"one\n"[..]));
    assert!(arena.root.join("one.txt").exists());
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
}

/// The session is taken back, and nobody begins again by himself.
pub fn aborted(arena: &Arena, before: &Seen) {
    one_is_gone(arena, before);
    assert_eq!(arena.git(&["log", "--format=%s", "main"]), "start\n");
    assert!(alive(arena).is_empty(), "{:?}", alive(arena));
}

pub fn nobody_works(arena: &Arena, before: &Seen) {
    nothing_moved(arena, before);
    assert!(alive(arena).values().all(|run| run.place == "merge"), "{:?}", alive(arena));
}

pub const fn deed(ask: &'static [&'static str], stops: Stops, then: fn(&Arena, &Seen)) -> Deed {
    Deed { ask, stops, then }
}

#[test]
fn with_eight_agents_at_work_each_operation_stops_whom_it_says_and_all_work_is_done_in_the_end() {
    let arena = arena_with(json!({}));
    let ids: Vec<String> = (1..=9).map(|n| format!("2.{n}")).collect();
    let workers: Vec<Value> = ids.iter().map(|id| worker(&arena, id, "", "go")).collect();
    let run = begun(&arena, &workers, "8");
    let deeds = [
        deed(&["checkpoint", "create", "mine"], Stops::Nobody, mine_has_everything),
        deed(&["task", "edit", "2.2", "--title", "Another name"], Stops::Nobody, nothing_moved),
        deed(&["agent", "redirect", "2.3", "2.9"], Stops::These(&["2.3"]), nothing_moved),
        deed(&["agent", "stop", "2.1"], Stops::These(&["2.1"]), nothing_moved),
        deed(&["task", "start", "2.1"], Stops::Nobody, nothing_moved),
        deed(&["agent", "kill", "2.2"], Stops::These(&["2.2"]), nothing_moved),
        deed(&["task", "start", "2.2"], Stops::Nobody, nothing_moved),
        deed(&["task", "block", "2.4", "wait for me"], Stops::These(&["2.4"]), nothing_moved),
        deed(&["task", "rollback", "1.1", "--yes"], Stops::Nobody, one_is_gone),
        deed(&["undo", "--yes"], Stops::Nobody, one_is_there),
        deed(&["rollback", "mine", "--yes"], Stops::Everybody, one_is_there),
        deed(&["pause", "--force"], Stops::Everybody, nobody_works),
        deed(&["resume"], Stops::Nobody, nothing_moved),
        deed(&["abort", "--yes"], Stops::Everybody, aborted),
        deed(&["undo", "--yes"], Stops::Nobody, one_is_there),
    ];
    for deed in &deeds {
        if ["resume", "undo"].contains(&deed.ask[0]) || deed.ask[0] == "task" && deed.ask[1] == "rollback" {
            // Right after the one before it.
        } else {
            works(&arena, 8);
        }
        check(&arena, deed);
    }
    arena.swarm(&["task", "unblock", "2.4"]);
    finish(&arena, run);
}

/// The worktree of the killed one is at its branch again.
fn two_is_clean(arena: &Arena, before: &Seen) {
    nothing_moved(arena, before);
    wait_for("the worktree is set back", || !arena.root.join(".swarm/worktrees/2.2/noise-2.2").exists());
    let now = Seen::of(arena).worktrees["2.2"].clone();
    assert_eq!(now.keys().collect::<Vec<_>>(), ["README.md"]);
    files_stay(arena, before, "2.2");
}

pub fn all_files_stay(arena: &Arena, before: &Seen) {
    nothing_moved(arena, before);
    files_stay(arena, before, "");
}

fn files_stay(arena: &Arena, before: &Seen, but: &str) {
    let now = Seen::of(arena);
    for (task, files) in before.worktrees.iter().filter(|(task, _)| *task != but) {
        assert!(now.worktrees.get(task) == Some(files), "the files of {task}");
    }
}

/// Every worktree has the very files that it had when the checkpoint was made.
fn all_is_as_in_mine(arena: &Arena, before: &Seen) {
    one_is_there(arena, before);
    let now = Seen::of(arena);
    let saved: Vec<&String> =
        now.refs.keys().filter(|name| name.starts_with("refs/swarm/checkpoints/mine/dirty/")).collect();
    assert_eq!(saved.len(), 4, "{saved:?}");
    for name in saved {
        let task = name.rsplit('/').next().expect("a task");
        let there = arena.git(&["ls-tree", "-r", "--name-only", name]);
        let files = &now.worktrees[task];
        assert_eq!(
            files.keys().map(String::as_str).collect::<Vec<_>>(),
            there.lines().collect::<Vec<_>>(),
            "{task}"
        );
        assert!(
            files.iter().all(|(file, bytes)| bytes_at(arena, name, file).as_ref() == Some(bytes)),
            "{task}"
        );
    }
}

#[test]
fn with_everybody_held_each_operation_leaves_the_others_held_and_all_work_is_done_in_the_end() {
    let arena = arena_with(json!({}));
    let half = arena.path("half").display().to_string();
    let first = format!("on-iteration 1: wait-for {half}\non-iteration 1: no-signal");
    let workers = ["2.1", "2.2", "2.3", "2.4"].map(|id| worker(&arena, id, &first, "go"));
    let run = begun(&arena, &workers, "4");
    works(&arena, 4);
    arena.ok(&["pause"]);
    say(&arena, "half");
    wait_for("everybody is held", || {
        let agents = arena.json(&["status"])["agents"].as_array().cloned().unwrap_or_default();
        agents.len() == 4 && agents.iter().all(|agent| agent["held"] == true)
    });
    let deeds = [
        deed(&["checkpoint", "create", "mine"], Stops::Nobody, mine_has_everything),
        deed(&["task", "edit", "2.1", "--title", "Another name"], Stops::Nobody, all_files_stay),
        deed(&["mode", "semi-auto"], Stops::Nobody, all_files_stay),
        deed(&["agent", "stop", "2.1"], Stops::These(&["2.1"]), all_files_stay),
        deed(&["agent", "kill", "2.2"], Stops::These(&["2.2"]), two_is_clean),
        deed(&["task", "block", "2.3", "wait for me"], Stops::These(&["2.3"]), all_files_stay),
        deed(&["task", "rollback", "1.1", "--yes"], Stops::Nobody, one_is_gone),
        deed(&["undo", "--yes"], Stops::Nobody, one_is_there),
        deed(&["rollback", "mine", "--yes"], Stops::Everybody, all_is_as_in_mine),
        deed(&["rollback", "--session", "--yes"], Stops::Nobody, one_is_gone),
        deed(&["undo", "--yes"], Stops::Nobody, all_is_as_in_mine),
        deed(&["abort", "--yes"], Stops::Nobody, aborted),
        deed(&["undo", "--yes"], Stops::Nobody, all_is_as_in_mine),
    ];
    deeds.iter().for_each(|deed| check(&arena, deed));
    finish(&arena, run);
}
