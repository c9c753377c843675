//! `mcp.confirm: person`: a program proposes, the wish waits in the ledger, and a person decides at any front end.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};
use crate::pipe::Pipe;

/// One task is merged; programs ask a person.
fn merged() -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena
}

/// Looked at and wanted: what the answer says, and the call itself.
fn proposed(pipe: &mut Pipe, tool: &str, arguments: Value, id: &str) -> (Value, Value) {
    let mut call = pipe.ok(tool, arguments)["next"]["arguments"].clone();
    call["id"] = json!(id);
    (pipe.ok(tool, call.clone()), call)
}

fn waiting(arena: &Arena) -> Vec<Value> {
    arena.json(&["attention"]).as_array().cloned().expect("a list")
}

#[test]
fn a_wish_of_a_program_waits_once_and_happens_as_it_was_shown_when_a_person_accepts_it() {
    let arena = merged();
    let trunk = arena.git(&["rev-parse", "main"]);
    let mut pipe = Pipe::newer(&arena, &[]);
    let (asked, call) =
        proposed(&mut pipe, "swarm_rollback", json!({ "to": "task", "task": "1.1" }), "take-it-back");
    assert_eq!((&asked["state"], &asked["done"]), (&json!("waits"), &json!(false)), "{asked}");
    assert_eq!(asked["next"]["tool"], "swarm_wait", "{asked}");
    // Asked twice, with its id and without one, also by another client: it is the same wish.
    assert_eq!(pipe.ok("swarm_rollback", call.clone())["state"], "waits");
    let mut without = call.clone();
    without.as_object_mut().expect("arguments").remove("id");
    assert_eq!(Pipe::older(&arena, &[]).ok("swarm_rollback", without)["state"], "waits");
    let list = waiting(&arena);
    assert_eq!(list.len(), 1, "{list:#?}");
    assert!(
        list[0]["what"].as_str().is_some_and(|what| what.contains("swarm task rollback 1.1")),
        "{list:?}"
    );
    assert_eq!(list[0]["commands"][0], "swarm attention --accept 1", "{list:?}");
    assert_eq!(arena.git(&["rev-parse", "main"]), trunk, "nothing is done before a person says so");
    let wait = json!({ "until": "operation", "operation": "take-it-back", "seconds": 0 });
    assert_eq!(pipe.ok("swarm_wait", wait.clone())["happened"], false);

    arena.ok(&["attention", "--accept", "1"]);
    assert!(!arena.root.join("one.txt").exists(), "its work is out of trunk");
    let waited = pipe.ok("swarm_wait", wait);
    assert_eq!(
        (&waited["happened"], &waited["operation"]["state"]),
        (&json!(true), &json!("done")),
        "{waited}"
    );
    let told = pipe.ok("swarm_rollback", call);
    assert_eq!((&told["state"], &told["done"]), (&json!("done"), &json!(true)), "{told}");
    assert!(waiting(&arena).is_empty());
    // It is the person's operation, and is undone as any other.
    let log = arena.json(&["op", "log"]);
    assert_eq!((&log[0]["by"], &log[0]["kind"]), (&json!("person:cli"), &json!("task rollback")), "{log}");
    arena.ok(&["undo", "--yes"]);
    assert!(arena.root.join("one.txt").exists());
    assert!(!arena.swarm(&["attention", "--accept", "1"]).status.success(), "it is not there any more");
}

#[test]
fn what_is_declined_or_would_do_something_else_by_now_is_not_done_and_the_program_is_told_why() {
    let arena = merged();
    let mut pipe = Pipe::newer(&arena, &[]);
    let session = json!({ "to": "session" });
    let (_, call) = proposed(&mut pipe, "swarm_rollback", session.clone(), "first");
    arena.ok(&["attention", "--decline", "1", "--reason", "not today"]);
    let told = pipe.refused("swarm_rollback", call);
    assert!(told["message"].as_str().is_some_and(|text| text.contains("not today")), "{told}");
    // Git has moved since it was shown.
    let (_, call) = proposed(&mut pipe, "swarm_rollback", session, "second");
    arena.commit("mine.txt", "mine");
    let trunk = arena.git(&["rev-parse", "main"]);
    assert_eq!(arena.swarm(&["attention", "--accept", "2"]).status.code(), Some(1));
    let told = pipe.refused("swarm_rollback", call);
    assert!(told["message"].as_str().is_some_and(|text| text.contains("changed")), "{told}");
    assert_eq!(arena.git(&["rev-parse", "main"]), trunk);
    // And so has the plan, where git would not move.
    let (_, call) = proposed(&mut pipe, "swarm_plan", json!({ "do": "reset" }), "third");
    arena.ok(&["task", "add", "More"]);
    arena.ok(&["task", "cancel", "1.2"]);
    assert_eq!(arena.swarm(&["attention", "--accept", "3"]).status.code(), Some(1));
    let told = pipe.refused("swarm_plan", call);
    assert!(told["message"].as_str().is_some_and(|text| text.contains("void")), "{told}");
    assert_eq!(arena.status_of("1.1"), "done");
    assert!(waiting(&arena).is_empty());
}

/// One request on the socket of the coordinator.
fn post(arena: &Arena, body: &Value) -> String {
    let at = arena.root.join(".swarm/run/coordinator.sock");
    // The one that was killed may still have listened a moment ago.
    let mut door = None;
    wait_for("a coordinator", || {
        door = UnixStream::connect(&at).ok();
        door.is_some()
    });
    let mut door = door.expect("it was there");
    let body = body.to_string();
    let head = "POST /v1/commands HTTP/1.1\r\nhost: swarm\r\ncontent-type: application/json\r\nconnection: close\r\n";
    write!(door, "{head}content-length: {}\r\n\r\n{body}", body.len()).expect("it reads");
    let mut answer = String::new();
    door.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_wish_outlives_the_coordinator_and_no_agent_accepts_it() {
    let arena = arena_with(json!({ "agent": "script" }));
    let (go, swarm) = (arena.path("go"), env!("CARGO_BIN_EXE_swarm"));
    let root = arena.root.display().to_string();
    let script = arena.script_beside(
        "accept.sh",
        &format!("{swarm} -C {root} attention --accept 1 2>&1 && echo ACCEPTED || echo DENIED\n"),
    );
    let attempt = format!("print HERE\nwait-for {}\nsh sh {script}\nprint TRIED\nsleep 600000", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &attempt), task("1.2", &["1.1"], "complete")]]);
    let mut run = arena.start(&[]);
    wait_for("the agent is there", || arena.printed().contains("HERE"));
    let mut pipe = Pipe::newer(&arena, &[]);
    proposed(&mut pipe, "swarm_plan", json!({ "do": "reset" }), "again");
    // It is in the ledger: the next coordinator has it too.
    run.kill_9();
    let run = arena.start(&[]);
    let socket = arena.root.join(".swarm/run/coordinator.sock");
    wait_for("a coordinator", || UnixStream::connect(&socket).is_ok());
    wait_for("it waits", || {
        waiting(&arena).iter().any(|entry| entry["what"].to_string().contains("Proposal 1"))
    });
    std::fs::write(&go, "").expect("a file");
    wait_for("the agent has tried", || arena.printed().contains("TRIED"));
    let printed = arena.printed();
    assert!(printed.contains("DENIED") && !printed.contains("ACCEPTED"), "{printed}");
    // Nor does the program that asked, whatever door it comes by.
    let accept = json!({ "do": "accept_proposal", "number": 1 });
    let told = post(&arena, &json!({ "id": "mine", "by": "person:mcp", "command": accept }));
    assert!(told.contains("not_for_agents"), "{told}");
    let decline = json!({ "do": "decline_proposal", "number": 1 });
    let told = post(&arena, &json!({ "id": "ours", "by": "person:web", "command": decline }));
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    assert!(!waiting(&arena).iter().any(|entry| entry["what"].to_string().contains("Proposal 1")));
    drop(run);
    arena.ok(&["stop"]);
    arena.is_judged();
}
