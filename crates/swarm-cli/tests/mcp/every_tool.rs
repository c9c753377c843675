//! Every tool once, on a repository where agents work, with and without a coordinator; and what moves git.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};
use crate::pipe::Pipe;

/// Where a model may confirm for itself.
fn arena() -> Arena {
    arena_with(json!({ "agent": "script", "mcp": { "confirm": "model" } }))
}

fn plan(tasks: &[Value]) -> Value {
    json!({ "goal": "prove it", "phases": [{ "id": 1, "name": "all", "tasks": tasks }] })
}

/// The `next` of a preview, carried out.
fn confirmed(pipe: &mut Pipe, tool: &str, arguments: Value) -> Value {
    let shown = pipe.ok(tool, arguments);
    assert_eq!(shown["done"], false, "{shown}");
    assert_eq!(shown["next"]["tool"], tool, "{shown}");
    pipe.ok(tool, shown["next"]["arguments"].clone())
}

#[test]
fn a_plan_is_made_run_looked_at_and_taken_back_by_tools_alone() {
    let arena = arena();
    let mut pipe = Pipe::newer(&arena, &[]);
    let mut used = BTreeSet::new();
    let mut ok = |pipe: &mut Pipe, tool: &'static str, arguments: Value| {
        used.insert(tool);
        pipe.ok(tool, arguments)
    };
    assert_eq!(pipe.refused("swarm_status", json!({}))["next"]["tool"], "save_plan");
    ok(&mut pipe, "swarm_init", json!({ "isolation": "worktree" }));
    let go = arena.path("go");
    let tasks = [
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task(
            "1.2",
            &["1.1"],
            &format!("write two.txt two\ncommit feat: two\nprint HERE\nwait-for {}\ncomplete", go.display()),
        ),
        task("1.3", &["1.2"], "complete"),
    ];
    let saved = ok(&mut pipe, "save_plan", json!({ "plan": plan(&tasks) }));
    assert!(saved["seq"].as_u64().is_some_and(|seq| seq > 0), "{saved}");
    ok(&mut pipe, "swarm_plan", json!({ "do": "approve" }));
    let approved = ok(&mut pipe, "get_approved_plan", json!({}));
    assert_eq!((&approved["approved"], &approved["drifted"]), (&json!(true), &json!(false)));
    let added = ok(
        &mut pipe,
        "swarm_edit",
        json!({ "do": "add", "title": "More", "allow_empty": true, "tags": ["late"] }),
    );
    assert_eq!(ok(&mut pipe, "swarm_tasks", json!({ "tag": "late" }))["tasks"][0]["id"], "1.4", "{added}");
    ok(&mut pipe, "update_task_status", json!({ "task": "1.4", "status": "deferred" }));
    let done = pipe.refused("update_task_status", json!({ "task": "1.4", "status": "done" }));
    assert_eq!((&done["kind"], &done["next"]["tool"]), (&json!("done_is_found_out"), &json!("swarm_task")));

    let before = arena.json(&["status"])["seq"].clone();
    let run = arena.start(&[]);
    wait_for("the agent is there", || arena.printed().contains("HERE"));
    // Now a coordinator answers.
    let status = ok(&mut pipe, "swarm_status", json!({}));
    assert_eq!((&status["counts"]["done"], &status["counts"]["active"]), (&json!(1), &json!(1)), "{status}");
    assert_eq!(ok(&mut pipe, "swarm_task", json!({ "task": "1.2" }))["status"], "active");
    let log = ok(&mut pipe, "swarm_log", json!({ "run": "1.2", "match": "HERE" }));
    assert!(log["lines"].to_string().contains("HERE"), "{log}");
    let diff = ok(&mut pipe, "swarm_diff", json!({ "task": "1.1" }));
    assert!(diff["patch"].as_str().is_some_and(|patch| patch.contains("one.txt")), "{diff}");
    let history = ok(&mut pipe, "swarm_history", json!({ "from": before, "task": "1.1" }));
    let rows = history["records"].as_array().expect("rows");
    assert!(
        rows.iter().all(|row| row["task"] == "1.1") && rows.iter().any(|row| row["text"].is_string()),
        "{history}"
    );
    ok(&mut pipe, "swarm_attention", json!({}));
    ok(&mut pipe, "swarm_worktree_list", json!({}));
    let shown = ok(
        &mut pipe,
        "swarm_preview",
        json!({ "tool": "swarm_stop", "arguments": { "do": "stop", "task": "1.2" } }),
    );
    assert_eq!(shown["stops"][0]["task"], "1.2", "{shown}");
    ok(&mut pipe, "swarm_run", json!({ "do": "message", "task": "1.2", "text": "well done" }));
    ok(&mut pipe, "swarm_stop", json!({ "do": "pause", "reason": "lunch" }));
    ok(&mut pipe, "swarm_run", json!({ "do": "resume" }));
    ok(&mut pipe, "swarm_checkpoint", json!({ "do": "make", "name": "here" }));
    let seq = ok(&mut pipe, "swarm_status", json!({}))["seq"].clone();
    std::fs::write(&go, "").expect("a file");
    let waited = ok(&mut pipe, "swarm_wait", json!({ "from": seq, "until": "task", "task": "1.2" }));
    assert_eq!(waited["happened"], true, "{waited}");
    // One task was put aside, so not all is done.
    assert_eq!(run.end().0, 1);

    // Nobody coordinates: the ledger is read and written here.
    assert_eq!(ok(&mut pipe, "swarm_wait", json!({ "until": "idle" }))["happened"], true);
    let builds_on_it = pipe.refused("swarm_rollback", json!({ "to": "task", "task": "1.2" }));
    assert_eq!(builds_on_it["kind"], "has_dependents", "{builds_on_it}");
    let rolled = confirmed(&mut pipe, "swarm_rollback", builds_on_it["next"]["arguments"].clone());
    assert_eq!(rolled["state"], "done", "{rolled}");
    assert_eq!(arena.commits("main", "feat: two"), 1, "the history keeps it");
    assert!(!arena.root.join("two.txt").exists(), "its work is out of trunk");
    let undone = confirmed(&mut pipe, "swarm_undo", json!({}));
    assert_eq!(undone["state"], "done", "{undone}");
    assert!(arena.root.join("two.txt").exists(), "{undone}");
    ok(&mut pipe, "update_task_status", json!({ "task": "1.4", "status": "pending" }));
    let made = ok(&mut pipe, "swarm_worktree_create", json!({ "task": "1.4" }));
    let place = arena.root.join(made["path"].as_str().expect("a path"));
    std::fs::write(place.join("four.txt"), "four").expect("a file");
    let half = pipe.refused("swarm_complete", json!({ "task": "1.4" }));
    assert!(half["message"].as_str().is_some_and(|text| text.contains("not committed")), "{half}");
    commit_in(&arena, &place);
    let reviewed = pipe.refused("swarm_review", json!({ "task": "1.3", "verdict": "approve" }));
    assert_eq!(reviewed["kind"], "not_in_review");
    ok(&mut pipe, "swarm_complete", json!({ "task": "1.4" }));
    let stays = ok(&mut pipe, "swarm_worktree_cleanup", json!({ "task": "1.4" }));
    assert_eq!(stays["removed"], false, "{stays}");
    let twice = pipe.refused("swarm_worktree_merge", json!({ "task": "1.4" }));
    assert!(twice["message"].is_string(), "{twice}");
    ok(&mut pipe, "update_task_status", json!({ "task": "1.4", "status": "cancelled" }));
    // It completed itself when its last open task was put aside.
    assert_eq!(pipe.refused("phase_complete", json!({ "phase": 1 }))["kind"], "phase_already_complete");
    for tool in ["phase_complete", "swarm_rollback", "swarm_undo", "swarm_review", "swarm_worktree_merge"] {
        used.insert(tool);
    }
    let by: BTreeSet<String> = arena
        .json(&["op", "log"])
        .as_array()
        .expect("a list")
        .iter()
        .map(|op| op["by"].to_string())
        .collect();
    assert!(by.contains("\"person:mcp\""), "{by:?}");

    let all = pipe.ask("tools/list", json!({}))["result"]["tools"].clone();
    let unused: Vec<&str> = all
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .filter(|name| !used.contains(name))
        .collect();
    assert!(unused.is_empty(), "never called: {unused:?}");
    assert!(pipe.close().success());
    arena.is_judged();
}

fn commit_in(arena: &Arena, place: &std::path::Path) {
    let place = place.display().to_string();
    arena.git(&["-C", &place, "add", "four.txt"]);
    arena.git(&["-C", &place, "commit", "--quiet", "--message", "feat: four"]);
}

#[test]
fn who_confirms_is_configured_and_a_preview_changes_nothing() {
    for confirm in ["person", "never"] {
        let arena = arena_with(json!({ "agent": "script", "mcp": { "confirm": confirm } }));
        arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
        assert_eq!(arena.run(&[]).0, 0);
        let mut pipe = Pipe::older(&arena, &[]);
        for (tool, arguments, typed) in [
            ("swarm_rollback", json!({ "to": "task", "task": "1.1" }), "swarm task rollback 1.1"),
            ("swarm_rollback", json!({ "to": "session" }), "swarm rollback --session"),
            ("swarm_rollback", json!({ "to": "abort" }), "swarm abort"),
            ("swarm_plan", json!({ "do": "reset" }), "swarm plan reset"),
            ("swarm_plan", json!({ "do": "close" }), "swarm close"),
        ] {
            let (before, trunk) = (arena.json(&["status"])["seq"].clone(), arena.git(&["rev-parse", "main"]));
            let shown = pipe.ok(tool, arguments);
            if confirm == "person" && typed != "swarm close" {
                let asked = pipe.ok(tool, shown["next"]["arguments"].clone());
                assert_eq!(asked["state"], "waits", "{asked}");
                assert!(arena.attention().contains(typed), "{typed}");
                assert_eq!(arena.git(&["rev-parse", "main"]), trunk);
                continue;
            }
            let refused = pipe.refused(tool, shown["next"]["arguments"].clone());
            let kind = if confirm == "person" { "person_needed" } else { "not_over_mcp" };
            assert_eq!(refused["kind"], kind, "{refused}");
            assert!(
                refused["hint"].as_str().is_some_and(|hint| hint.contains(&format!("`{typed}`"))),
                "{refused}"
            );
            assert_eq!(arena.json(&["status"])["seq"], before, "{tool} changed something");
            assert_eq!(arena.git(&["rev-parse", "main"]), trunk);
        }
    }
}

#[test]
fn what_would_do_something_else_by_now_is_not_done() {
    let arena = arena();
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], "complete"),
    ]]);
    assert_eq!(arena.run(&[]).0, 0);
    let mut pipe = Pipe::newer(&arena, &[]);
    let shown = pipe.ok("swarm_rollback", json!({ "to": "session" }));
    // Somebody commits meanwhile.
    arena.commit("mine.txt", "mine");
    let trunk = arena.git(&["rev-parse", "main"]);
    let refused = pipe.refused("swarm_rollback", shown["next"]["arguments"].clone());
    assert_eq!(refused["next"]["tool"], "swarm_rollback", "{refused}");
    assert!(refused["next"]["arguments"].get("expect").is_none(), "{refused}");
    assert_eq!(arena.git(&["rev-parse", "main"]), trunk);
    let shown = pipe.ok("swarm_plan", json!({ "do": "reset" }));
    arena.ok(&["task", "add", "More"]);
    arena.ok(&["task", "cancel", "1.3"]);
    let refused = pipe.refused("swarm_plan", shown["next"]["arguments"].clone());
    assert_eq!(refused["kind"], "not_as_shown", "{refused}");
}

#[test]
fn mistakes_are_told_to_whoever_made_them() {
    let arena = arena();
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
    let mut pipe = Pipe::newer(&arena, &[]);
    for (tool, arguments, word) in [
        ("no_such_tool", json!({}), "no_such_tool"),
        ("swarm_status", json!({ "when": 1 }), "unknown field"),
        ("swarm_task", json!({}), "missing field"),
        ("swarm_task", json!({ "task": "../x" }), "task id"),
        ("swarm_task", json!({ "task": 1.1 }), "ids are texts"),
        ("swarm_stop", json!({ "do": "fly" }), "unknown variant"),
        ("swarm_stop", json!({ "do": "block", "task": "1.1" }), "`reason`"),
        ("update_task_status", json!({ "task": "1.1", "status": "merging" }), "nobody sets it"),
        ("save_plan", json!({ "plan": { "goal": 1 } }), "the plan"),
        (
            "save_plan",
            json!({ "plan": plan(&[task("1.1", &["1.2"], "complete"), task("1.2", &["1.1"], "complete")]) }),
            "1.1",
        ),
        ("swarm_task", json!({ "task": "1.7" }), "1.7"),
        ("swarm_init", json!({ "isolation": "reservation" }), "reservation"),
        ("swarm_stop", json!({ "do": "pause", "id": "not an id!" }), "id"),
    ] {
        let error = pipe.refused(tool, arguments.clone());
        assert!(
            error["message"].as_str().is_some_and(|text| text.contains(word)),
            "{tool} {arguments}: {error}"
        );
    }
    arena.is_judged();
}
