//! A swarm in the background: started, looked at, stopped, and never two of them.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::arena::{Arena, wait_for};

const CONFIG: &str = r#"{ "agent": "script", "stop": { "grace": "1s", "drain": "1s" } }"#;

#[test]
fn a_detached_swarm_answers_is_alone_and_ends_when_asked() {
    let arena = Arena::new(CONFIG);
    let go = arena.path("go");
    arena.plan(&[(
        "1.1",
        &[],
        format!("write a.txt a\nwait-for {}\ncommit feat: a\ncomplete", go.display()),
    )]);
    let started = arena.json(&["run", "--detach", "--mode", "autopilot"]);
    let pid = started["pid"].as_u64().expect("a pid");
    assert!(std::path::Path::new(&format!("/proc/{pid}")).exists(), "{started}");
    // Its own session: the end of our terminal is nothing to it.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let session = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(3)).expect("a session");
    assert_eq!(session, pid.to_string());
    let second = arena.swarm(&["run", "--agent", "script"]);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("pid {pid}")) && said.contains("swarm status --watch"), "{said}");
    wait_for("the agent works", || arena.root.join(".swarm/worktrees/1.1/a.txt").exists());
    let agents = arena.json(&["agent", "list"]);
    assert_eq!(
        (agents[0]["task"].as_str(), agents[0]["state"].as_str()),
        (Some("1.1"), Some("working")),
        "{agents}"
    );
    let stopped = arena.json(&["stop"]);
    assert_eq!(stopped["ended"], true);
    arena.assert_nothing_runs();
    let log = std::fs::read_to_string(arena.root.join(".swarm/run/coordinator.log")).expect("a log");
    assert!(log.contains("started (epoch") && log.contains("Stopped;"), "{log}");
    assert_eq!(arena.swarm(&["stop"]).status.code(), Some(4), "nobody is there to stop");
    std::fs::write(&go, "").expect("the signal file");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}

#[test]
fn a_swarm_that_cannot_start_in_the_background_says_why() {
    let arena = Arena::new(CONFIG);
    let failed = arena.swarm(&["run", "--detach"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(said.contains("No plan yet"), "{said}");
    arena.assert_nothing_runs();
}

#[test]
fn a_watched_status_says_each_change_once_and_ends_when_nobody_reads() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    let mut watch = arena
        .command(&["status", "--watch", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
    let mut next = || -> serde_json::Value {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("one object for each change")
    };
    let first = next();
    assert_eq!(first["counts"]["deferred"], 0);
    arena.ok(&["task", "defer", "1.1"]);
    let second = next();
    assert_eq!(second["counts"]["deferred"], 1);
    assert!(second["seq"].as_u64() > first["seq"].as_u64());
    drop(lines);
    arena.ok(&["task", "unblock", "1.1"]);
    wait_for("it has ended by itself", || watch.try_wait().expect("ours").is_some());
}

/// `swarm status --watch --json | grep -m1 …` ends with the change that it waits for, which may be the last one for ever.
#[test]
fn a_watched_status_ends_with_its_reader_though_nothing_changes_any_more() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    let mut watch = arena
        .command(&["status", "--watch", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    drop(lines);
    wait_for("it has ended by itself", || watch.try_wait().expect("ours").is_some());
}

/// Between the death of a coordinator and the next one, which whoever watches it starts, a second run would be refused.
#[test]
fn nobody_is_told_to_start_a_swarm_that_is_just_started_again() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    arena.ok(&["worktree", "create", "1.1"]);
    let tree = arena.root.join(".swarm/worktrees/1.1");
    std::fs::write(tree.join("a.txt"), "a\n").expect("a file");
    let tree = tree.display().to_string();
    arena.git(&["-C", &tree, "add", "a.txt"]);
    arena.git(&[
        "-C",
        &tree,
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@localhost",
        "commit",
        "-qm",
        "feat: a",
    ]);
    // As the one that watches says it.
    let path = arena.root.join(format!(".swarm/run/watcher-{}.json", std::process::id()));
    let mut watcher = std::fs::File::create(path).expect("the folder of the run");
    watcher.try_lock().expect("nobody else has it");
    let myself = swarm_process::ProcessIdentity::of_myself("").expect("we live");
    watcher.write_all(&serde_json::to_vec(&myself).expect("plain data")).expect("written");
    let merged = arena.swarm(&["worktree", "merge", "1.1"]);
    let said = String::from_utf8_lossy(&merged.stderr).into_owned();
    assert!(merged.status.success() && !said.contains("no coordinator"), "{said}");
    drop(watcher);
}

#[test]
fn in_semi_auto_a_ready_task_waits_for_its_word() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[
        ("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into()),
        ("1.2", &[], "complete".into()),
    ]);
    let mut run = arena.start_with(&["--mode", "semi-auto"]);
    run.until("swarm task start 1.1");
    assert_eq!(arena.json(&["mode"])["mode"], "semi-auto");
    arena.ok(&["task", "start", "1.1"]);
    run.until("on main at");
    assert_eq!(arena.tasks()[1]["status"], "pending", "only what was started is done");
    arena.ok(&["mode", "autopilot"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}

/// A run and its history are read beside each other, and both in the time zone of whoever reads.
#[test]
fn a_run_and_its_history_tell_the_same_time_of_day() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    let far_away = |args: &[&str]| {
        let out = arena.command(args).env("TZ", "JST-9").output().expect("swarm runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (_, said) = far_away(&["run", "--agent", "script", "--mode", "autopilot"]);
    let started = said.lines().find(|line| line.contains("started (epoch 1)")).expect("its first line");
    let (history, _) = far_away(&["plan", "history"]);
    assert!(history.contains(&started[..8]), "{started}\n{history}");
}
