//! Agents that produce too much of something: output, a line, files, bytes on a small disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::arena::{Running, children_of, files_below, wait_for};
use crate::ground::{arena_with, scaled, task};

/// Highest resident memory of a process, in MiB.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// The largest the coordinator and the daemons became while `run` went on.
fn watch_memory(run: &mut Running, daemons: &Path) -> u64 {
    let mut peak = 0;
    while !run.for_a_while(std::time::Duration::from_millis(50)) {
        let coordinator = children_of(run.child.id()).into_iter().map(peak_memory).max();
        peak = peak.max(coordinator.unwrap_or(0));
        for file in files_below(daemons, ".json") {
            let record = std::fs::read(&file).unwrap_or_default();
            let record: serde_json::Value = serde_json::from_slice(&record).unwrap_or_default();
            peak = peak.max(record["pid"].as_u64().map_or(0, |pid| peak_memory(pid as u32)));
        }
    }
    peak
}

/// The agent floods, commits and completes; neither the journal nor the memory follow it.
fn check_flood(flood: &str) {
    let arena = arena_with(json!({}));
    arena.plan(&[("1.1", &[], format!("write a.txt a\nsh {flood}\ncommit feat: a\ncomplete"))]);
    let mut run = arena.start(&[]);
    let peak = watch_memory(&mut run, &arena.root.join(".swarm/run/daemons"));
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    let journals: u64 = files_below(&arena.root.join(".swarm/agents"), "")
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok())
        .map(|meta| meta.len())
        .sum();
    println!("peak {peak} MiB, journals {} MiB", journals >> 20);
    assert!(peak < 200, "{peak} MiB of memory");
    assert!(journals < 300 << 20, "{} MiB of journals", journals >> 20);
    assert_eq!(arena.starts("1.1"), 1);
    let out = arena.swarm(&["status"]);
    assert!(out.stdout.len() < 64 << 10, "a status of {} bytes", out.stdout.len());
    arena.assert_tidy();
}

#[test]
fn an_agent_that_prints_without_end_fills_neither_disk_nor_memory() {
    let bytes = scaled(32, 1024) << 20;
    check_flood(&format!(
        "yes 'a line of no interest, sixty-four bytes of it, again and again' | head -c {bytes}; echo"
    ));
}

#[test]
fn a_line_of_many_megabytes_is_cut_and_hurts_nobody() {
    let bytes = scaled(10, 100) << 20;
    check_flood(&format!(
        "head -c {bytes} /dev/zero | tr '\\0' x; echo; head -c {bytes} /dev/zero | tr '\\0' y >&2"
    ));
}

#[test]
fn bytes_that_are_not_text_are_kept_as_something_readable() {
    check_flood("head -c 2000000 /dev/urandom; echo");
}

#[test]
fn an_agent_that_closes_its_pipes_is_waited_for_until_it_ends() {
    let arena = arena_with(json!({}));
    let script = "on-iteration 1: close-output\non-iteration 1: sleep 700\non-iteration 1: write a.txt a\n\
                  on-iteration 1: commit feat: after the pipes\non-iteration 1: no-signal\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.commits("main", "feat: after the pipes"), 1);
    assert_eq!(arena.starts("1.1"), 1, "{said}");
    arena.assert_tidy();
}

#[test]
fn an_agent_that_writes_very_many_files_gets_them_committed() {
    let files = scaled(10_000, 100_000);
    let arena = arena_with(json!({}));
    let script =
        format!("sh mkdir many && cd many && seq {files} | split -l 1 -a 5 - f\nwrite a.txt a\ncomplete");
    arena.plan(&[("1.1", &[], script)]);
    let began = std::time::Instant::now();
    let (code, said) = arena.run(&[]);
    println!("{files} files in {:.1} s", began.elapsed().as_secs_f64());
    assert_eq!(code, 0, "{said}");
    let on_trunk = arena.git(&["ls-tree", "-r", "--name-only", "main", "many"]).lines().count();
    assert_eq!(on_trunk as u64, files);
    arena.assert_tidy();
}

/// A small file system of its own for the worktrees; unmounted at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where we may not mount.
    fn mount(at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn an_agent_that_fills_the_disk_of_its_worktree_loses_nothing_and_all_goes_on_when_there_is_room() {
    let arena = arena_with(json!({
        "worktree": { "dir": ".swarm/small" }, "recovery": { "maxRetries": 3, "backoffMax": "1s" },
        "disk": { "low": 1, "enough": 2 },
    }));
    let small = arena.root.join(".swarm/small");
    let Some(_disk) = SmallDisk::mount(&small) else {
        println!("skipped: only root can mount a small disk");
        return;
    };
    let fills = "write a.txt a\ncommit feat: a\nsh head -c 20000000 /dev/zero > big\nwrite c.txt c\ncommit feat: c\ncomplete";
    arena.plan_in_phases(&[vec![
        task("1.1", &[], fills),
        task("1.2", &[], "write b.txt b\ncommit feat: b\ncomplete"),
    ]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it stands still and says so", || arena.attention().contains("swarm "));
    assert!(arena.git(&["log", "--all", "--format=%s"]).contains("feat: a"), "what was committed is kept");
    // A person makes room, and the agent learns its lesson.
    arena.ok(&[
        "task",
        "edit",
        "1.1",
        "--description",
        "```script\nwrite c.txt c\ncommit feat: c\ncomplete\n```",
    ]);
    let _ = std::fs::remove_file(small.join("1.1/big"));
    wait_for("all is done", || {
        for task in arena.tasks() {
            if task["status"] == "blocked" {
                let _ = std::fs::remove_file(small.join("1.1/big"));
                arena.ok(&["task", "unblock", task["id"].as_str().expect("an id")]);
            }
        }
        for reason in arena.json(&["status"])["paused"].as_array().expect("a list") {
            // It may have gone on by itself meanwhile.
            let _ = arena.command(&["resume", "--reason", reason.as_str().expect("a word")]).status();
        }
        arena.tasks().iter().all(|task| task["status"] == "done")
    });
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    for id in ["1.1", "1.2"] {
        arena.assert_proven(id, "main");
    }
    // A later attempt may commit what the one before had left, under the same words.
    assert!(arena.commits("main", "feat: a") >= 1, "{said}");
    arena.assert_tidy();
}
