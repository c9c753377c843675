//! What agents printed, afterwards and while they print.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::arena::Arena;

const CONFIG: &str = r#"{ "agent": "script", "stop": { "grace": "1s", "drain": "1s" } }"#;

#[test]
fn the_log_of_a_task_an_agent_and_a_run_are_the_same_and_there_without_a_swarm() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "print hello there\nwrite a.txt a\ncommit feat: a\ncomplete".into())]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    let of = |args: &[&str]| String::from_utf8_lossy(&arena.swarm(args).stdout).into_owned();
    let by_task = of(&["agent", "logs", "1.1"]);
    assert!(by_task.contains("hello there"), "{by_task}");
    assert_eq!(of(&["agent", "logs", "ed-001"]), by_task);
    assert_eq!(of(&["agent", "logs", "r1"]), by_task);
    assert_eq!(of(&["agent", "logs", "r1", "-f"]), by_task, "an ended run is not waited for");
    let raw = of(&["agent", "logs", "1.1", "--raw"]);
    assert!(raw.lines().any(|line| line == "hello there"), "{raw}");
    let last = of(&["agent", "logs", "1.1", "--raw", "-n", "1"]);
    assert_eq!(last.lines().count(), 1);
    assert!(raw.ends_with(&last));
    for line in of(&["agent", "logs", "1.1", "--json"]).lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("one object for each line");
        assert!(line["text"].is_string() && line["stream"].is_string());
    }
    let list = of(&["agent", "list"]);
    assert!(list.contains("ed-001") && list.contains("completed"), "{list}");
    for (args, code) in
        [(["agent", "logs", "r99"], 1), (["agent", "logs", "9.9"], 1), (["agent", "logs", "No!"], 2)]
    {
        assert_eq!(arena.swarm(&args).status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn a_followed_log_shows_what_comes_and_ends_with_the_run() {
    let arena = Arena::new(CONFIG);
    let go = arena.path("go");
    let script = format!("print first\nwait-for {}\nprint second\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("is working");
    let mut follow = arena
        .command(&["agent", "logs", "1.1", "-f", "--raw"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(follow.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "first"), "what was printed before it began");
    std::fs::write(&go, "").expect("the signal file");
    assert!(lines.any(|line| line == "second"), "what was printed after");
    drop(lines.by_ref().last());
    assert!(follow.wait().expect("it ends").success());
    run.end();
}
