//! Refs and syncs that fail once: the work is saved under another name, the process begins anew, and a stop has an end.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::hurried;
use crate::arena::wait_for;

#[test]
fn unfinished_work_whose_ref_names_a_missing_commit_is_saved_beside_it_and_the_stop_ends() {
    let arena = hurried(json!({}));
    let go = arena.path("go");
    let script = format!("write a.txt a\nwait-for {}\ncommit feat: a\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("the file", || arena.root.join(".swarm/worktrees/1.1/a.txt").exists());
    let lost = ".git/refs/swarm/wip/1.1/r1";
    arena.write(lost, "1234567890123456789012345678901234567890\n");
    let doctor = String::from_utf8(arena.swarm(&["doctor"]).stdout).expect("text");
    assert!(doctor.contains("refs/swarm/wip/1.1/r1 names an object"), "{doctor}");
    arena.ok(&["stop"]);
    let (_, said) = run.end();
    assert!(!said.contains("cannot be saved"), "{said}");
    let saved = arena.git(&["show", "refs/swarm/wip/1.1/r1-2:a.txt"]);
    assert_eq!(saved, "a\n");
    std::fs::remove_file(arena.root.join(lost)).expect("it is still there: somebody may want it");
    std::fs::write(go, "").expect("a file");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_tidy();
}

/// Lets one system call of a process fail, once.
fn fail_once(pid: u32, call: &str) -> Child {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-p", &pid.to_string(), "-o", "/dev/null", "-e", &format!("trace={call}")]);
    strace.args(["-e", &format!("inject={call}:error=EIO:when=1")]).stderr(Stdio::piped());
    let mut strace = strace.spawn().expect("strace starts: `sudo apt-get install strace`");
    let mut line = String::new();
    let stderr = strace.stderr.as_mut().expect("its words");
    BufReader::new(stderr).read_line(&mut line).expect("a line");
    assert!(line.contains("attached"), "in a container the system call ptrace has to be allowed: {line}");
    strace
}

#[test]
fn a_sync_of_git_that_fails_once_ends_the_coordinator_and_the_next_one_goes_on_with_nobody_blamed() {
    let arena = hurried(json!({}));
    let go = arena.path("go");
    let script = format!("write a.txt a\nwait-for {}\ncommit feat: a\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script), ("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete".into())]);
    let mut run = arena.start(&[]);
    run.until("is working");
    let mut strace = fail_once(run.coordinator(), "syncfs");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    let _ = strace.kill();
    let _ = strace.wait();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("The disk did not take what git has written"), "{said}");
    assert!(!said.contains("not merged") && !said.contains("Paused"), "nobody is to blame: {said}");
    assert_eq!(arena.shown("1.1")["retries"], 0, "{said}");
    assert_eq!(arena.commits("main", "feat: a"), 1);
    arena.assert_tidy();
}

/// Records that the ledger has lost are still witnessed by what was written of them: nobody else gets their number.
#[test]
fn a_number_that_was_given_is_not_given_again_after_its_record_was_lost() {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], "complete".into())]);
    assert!(arena.ok(&["task", "add", "Two"]).contains("1.2"));
    assert!(arena.ok(&["task", "add", "Three"]).contains("1.3"));
    let ledger = arena.root.join(".swarm/plan-ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).expect("a ledger");
    // Cut at a record, with the second copy gone: nothing in the ledger itself is wrong.
    let kept = text.split_inclusive('\n').take_while(|line| !line.contains("\"1.3\"")).collect::<String>();
    assert!(kept.len() < text.len() && kept.contains("\"1.2\""));
    std::fs::write(&ledger, kept).expect("a shorter ledger");
    std::fs::remove_file(arena.root.join(".git/swarm/plan-ledger.jsonl")).expect("the second copy");
    let said = arena.ok(&["task", "add", "Another"]);
    assert!(said.contains("1.4"), "1.3 was given to another task: {said}");
}
