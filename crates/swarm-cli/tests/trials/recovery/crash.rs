//! F5, F3: an agent that crashes begins again by itself, in its own worktree, and is told what happened; one that
//! crashes too often gets no more work.

use serde_json::json;

use super::hurried;
use crate::arena::wait_for;

#[test]
fn an_agent_that_crashed_begins_again_itself_and_is_told_why() {
    let arena = hurried(json!({}));
    let go = arena.path("go");
    let script = format!(
        "on-attempt 1: write half.txt half\non-attempt 1: commit feat: half\non-attempt 1: write more.txt more\n\
         on-attempt 1: crash 42\nprint second go\nwait-for {}\nwrite whole.txt whole\ncommit feat: whole\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("it is tried again", || arena.printed().contains("second go"));
    let prompt = arena.prompt_of("r2");
    for words in [
        "## Recovery Context",
        "**Previous attempts:** 1",
        "**Worktree has uncommitted changes:** Yes",
        "### Last Attempt Log",
        "half.txt",
    ] {
        assert!(prompt.contains(words), "{words:?} is missing:\n{prompt}");
    }
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("ed-001 crashed") && said.contains("restarts at"), "{said}");
    assert!(!said.contains("ada-002"), "the task stays with its agent: {said}");
    let view = arena.shown("1.1");
    assert_eq!(
        (&view["attempts"], &view["restarts"], &view["retries"]),
        (&json!(1), &json!(1), &json!(0)),
        "{view}"
    );
    let files = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(["half.txt", "more.txt", "whole.txt"].iter().all(|name| files.contains(name)), "{files}");
    arena.assert_tidy();
}

#[test]
fn an_agent_that_crashes_too_often_is_taken_out_of_service_until_it_is_revived() {
    let arena = hurried(json!({ "recovery": { "maxRetries": 2, "backoffMax": "1s", "maxCrashes": 1 } }));
    let script = "on-attempt 1: crash 42\non-attempt 2: kill-self\nwrite a.txt a\ncommit feat: a\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "another agent takes the task: {said}");
    assert!(said.contains("ed-001 is out of service") && said.contains("assigned to ada-002"), "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(1)), "{view}");
    assert_eq!(arena.json(&["status"])["degraded"][0]["agent"], "ed-001");
    let list = arena.json(&["attention"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(list[0]["commands"], json!(["swarm agent revive ed-001"]), "{list}");
    let said = arena.refused(&["agent", "revive", "ed-011"]);
    assert!(said.contains("ed-001"), "who was probably meant: {said}");
    arena.ok(&["agent", "revive", "ed-001"]);
    assert_eq!(arena.json(&["attention"]), json!([]), "an entry goes away with its cause");
    assert_eq!(arena.ok(&["attention"]).trim(), "Nothing waits for you");
    arena.refused(&["agent", "revive", "ed-001"]);
    arena.assert_tidy();
}
