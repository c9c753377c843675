//! What a preview says is what happens.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::deeds::{bytes_at, refs};
use crate::ground::{arena_with, task};
use crate::processes::{alive, runs_at};

const WRITES: fn(&str) -> String = |name| format!("write {name}.txt {name}\ncommit feat: {name}\ncomplete");

/// Three tasks on trunk, one upon another, and a commit of a person between nothing.
fn three_done() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], &WRITES("one")),
        task("1.2", &["1.1"], &WRITES("two")),
        task("1.3", &["1.1"], &WRITES("three")),
    ]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena
}

fn on_trunk(arena: &Arena) -> BTreeSet<String> {
    arena.git(&["log", "--format=%h %s", "--abbrev=8", "main"]).lines().map(str::to_owned).collect()
}

fn lines(preview: &Value, section: &str) -> Vec<String> {
    let all = preview["says"][section].as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

/// The branches of tasks, each with its commit.
fn task_branches(arena: &Arena) -> BTreeMap<String, String> {
    let listed = arena.git(&["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/swarm"]);
    let pairs = listed.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(name, oid)| (name.to_owned(), oid[..8].to_owned())).collect()
}

/// Each ref that moved is named in the preview, with where from and where to.
fn assert_says_moves(
    command: &[&str],
    preview: &Value,
    (from, to): (&str, &str),
    (before, after): (&BTreeMap<String, String>, &BTreeMap<String, String>),
) {
    let (from, to) = (&from[..8], &to[..8]);
    let first = lines(preview, "commits").into_iter().next().unwrap_or_default();
    if from != to {
        let set = first == format!("main moves from {from} to {to}");
        let built = first.starts_with(&format!("main moves on from {from} by "));
        assert!(set || built, "{command:?}: {first:?}, and it is at {to}");
    }
    let work = lines(preview, "work");
    for name in before.keys().chain(after.keys()) {
        let words = match (before.get(name), after.get(name)) {
            (Some(was), Some(is)) if was == is => continue,
            (Some(was), Some(is)) => format!("the branch {name} moves from {was} to {is}"),
            (Some(was), None) => format!("the branch {name} goes from {was}"),
            (None, Some(is)) => format!("the branch {name} comes back at {is}"),
            (None, None) => continue,
        };
        assert!(work.iter().any(|line| line.starts_with(&words)), "{command:?}: {words:?} in {work:?}");
    }
    if let "undo" | "redo" = command[0] {
        let did = if command[0] == "undo" { "Undone: " } else { "Redone: " };
        let text = preview["text"].as_str().unwrap_or_default();
        assert!(text.starts_with(did), "{command:?}: {text:?}");
    }
}

/// Asks for the preview, does it, and compares: commits that go, tasks and their statuses, the plan's own words.
fn check(arena: &Arena, command: &[&str]) {
    let dry = [command, &["--dry-run"]].concat();
    let (from, tips) = (arena.git(&["rev-parse", "main"]), task_branches(arena));
    let (before, preview) = (on_trunk(arena), arena.json(&dry));
    assert_eq!(on_trunk(arena), before, "a look changes nothing: {command:?}");
    arena.ok(&[command, &["--yes"]].concat());
    let after = on_trunk(arena);
    let goes: BTreeSet<String> = lines(&preview, "commits")
        .iter()
        .filter_map(|line| line.strip_prefix("goes from main: "))
        .map(str::to_owned)
        .collect();
    let gone: BTreeSet<String> = before.difference(&after).cloned().collect();
    assert_eq!(gone, goes, "{command:?}: what goes from trunk: {preview:#}");
    let to = arena.git(&["rev-parse", "main"]);
    assert_says_moves(command, &preview, (&from, &to), (&tips, &task_branches(arena)));
    for line in lines(&preview, "tasks") {
        let Some((id, stages)) = line.split_once(": ") else { continue };
        let Some((_, then)) = stages.split_once(" → ") else { continue };
        let status = arena.status_of(id);
        // What waits for its merge is shown as merging.
        let then = then.replace("approved", "merging");
        assert!(then.starts_with(&status), "{command:?}: {line}, and it is {status}");
    }
    arena.ok(&["plan", "verify"]);
}

#[test]
fn commits_and_tasks_are_what_the_preview_said_for_every_way_back_and_forth() {
    let arena = three_done();
    check(&arena, &["task", "rollback", "1.3"]);
    check(&arena, &["undo"]);
    check(&arena, &["rollback", "before-merge-1.2"]);
    check(&arena, &["undo"]);
    check(&arena, &["redo"]);
    check(&arena, &["undo"]);
    check(&arena, &["rollback", "--session"]);
    check(&arena, &["undo"]);
    check(&arena, &["abort"]);
    check(&arena, &["undo"]);
    check(&arena, &["task", "rollback", "1.1", "--cascade"]);
    check(&arena, &["undo"]);
    arena.assert_all_done();
    for id in ["1.1", "1.2", "1.3"] {
        arena.assert_proven(id, "main");
    }
    arena.assert_tidy();
}

#[test]
fn what_is_asked_after_a_preview_is_refused_when_it_would_do_something_else_by_now() {
    let arena = three_done();
    let preview = arena.json(&["task", "rollback", "1.3", "--dry-run"]);
    let expect = preview["expect"].as_str().expect("a hash");
    arena.commit("mine.txt", "mine");
    let ask = json!({ "do": "rollback_task", "task": "1.3", "cascade": false, "expect": expect }).to_string();
    let before = on_trunk(&arena);
    // It is asked, found to be another thing, and given up: nothing has moved.
    let out = arena.swarm(&["ask", &ask]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
    arena.ok(&["status"]);
    let log = arena.json(&["op", "log"]);
    assert!(!out.status.success() || log[0]["state"] != "done", "{said}: {log}");
    assert_eq!(on_trunk(&arena), before);
}

#[test]
fn without_a_terminal_nothing_is_done_unless_it_is_confirmed() {
    let arena = three_done();
    let before = on_trunk(&arena);
    let out = arena.swarm(&["rollback", "--session"]);
    assert_eq!(out.status.code(), Some(2));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("--dry-run") && said.contains("--yes"), "{said}");
    assert_eq!(on_trunk(&arena), before);
}

#[test]
fn whom_a_kill_ends_and_what_goes_where_is_said_before_commits_of_the_iteration_too() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    let script = "write done.txt done\ncommit feat: half\nsh head -c 3000 /dev/urandom > rest.bin";
    let script = format!("{script}\nprint at work\nwait-for {go}\ncommit feat: rest\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    let (before, began) = (refs(&arena), arena.git(&["rev-parse", "main"]));
    let rest = std::fs::read(arena.root.join(".swarm/worktrees/1.1/rest.bin")).expect("it is there");
    let text = arena.ok(&["agent", "kill", "1.1", "--dry-run"]);
    assert!(text.contains("ed-001 on 1.1") && text.contains("done.txt, rest.bin"), "{text}");
    let preview = arena.json(&["agent", "kill", "1.1", "--dry-run"]);
    let stop = &preview["stops"][0];
    let (name, of) = (stop["savedTo"].as_str().expect("a ref"), stop["run"].as_str().expect("a run"));
    assert_eq!((&stop["files"], &stop["agent"]), (&json!(["done.txt", "rest.bin"]), &json!("ed-001")));
    assert_eq!(runs_at(&alive(&arena), "1.1"), [of], "it names who works there");
    assert_eq!(refs(&arena), before, "a look changes nothing");
    arena.ok(&["pause"]);
    arena.ok(&["agent", "kill", "1.1"]);
    wait_for("it is gone and set back", || {
        let now = refs(&arena);
        alive(&arena).is_empty() && now.get("refs/heads/swarm/1.1").map(String::as_str) == Some(began.trim())
    });
    wait_for("the files are gone", || !arena.root.join(".swarm/worktrees/1.1/done.txt").exists());
    assert_eq!(bytes_at(&arena, name, "done.txt").as_deref(), Some(&b"done\n"[..]));
    assert!(bytes_at(&arena, name, "rest.bin") == Some(rest), "byte for byte");
    std::fs::write(go, "").expect("a file");
    arena.ok(&["resume"]);
    arena.ok(&["task", "start", "1.1"]);
    assert_eq!(run.end().0, 0);
    arena.assert_all_done();
    arena.assert_tidy();
}
