//! An id on each write: done once, across restarts of the coordinator and of the client.

use std::io::Write;
use std::os::unix::net::UnixStream;

use serde_json::json;

use crate::arena::wait_for;
use crate::ground::{arena_with, task};
use crate::pipe::Pipe;

#[test]
fn a_coordinator_killed_between_call_and_answer_has_done_it_once_or_not_at_all() {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "print HERE\nsleep 600000")]]);
    let mut run = arena.start(&[]);
    wait_for("the agent is there", || arena.printed().contains("HERE"));
    let mut pipe = Pipe::newer(&arena, &[]);
    // It takes the call and does not answer; then it is killed.
    let coordinator = run.coordinator();
    crate::arena::send("STOP", coordinator);
    let arguments = json!({ "do": "add", "title": "Once", "id": "wish-1", "allow_empty": true });
    pipe.send(&json!({ "jsonrpc": "2.0", "id": "first", "method": "tools/call",
        "params": { "name": "swarm_edit", "arguments": arguments, "_meta": crate::pipe::meta() } }));
    run.kill_9();
    let frame = pipe.next();
    assert_eq!(frame["id"], "first", "{frame}");
    // Whatever it answered, asking again by the same id gives the one answer.
    let told = pipe.ok("swarm_edit", arguments.clone());
    let again = Pipe::older(&arena, &[]).ok("swarm_edit", arguments);
    assert_eq!(again["repeated"], true, "{again}");
    assert_eq!((&told["seq"], &told["text"]), (&again["seq"], &again["text"]));
    let titled = arena.tasks().iter().filter(|task| task["title"] == "Once").count();
    assert_eq!(titled, 1);
    arena.ok(&["stop"]);
    arena.is_judged();
}

#[test]
fn what_is_on_disk_and_was_never_answered_is_answered_by_its_id_and_done_once() {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "print HERE\nsleep 600000"),
        task("1.2", &["1.1"], "complete"),
    ]]);
    let mut run = arena.start(&[]);
    wait_for("the agent is there", || arena.printed().contains("HERE"));
    let wish = json!({ "id": "wish-2", "by": "person:mcp",
        "command": { "do": "block_task", "task": "1.2", "reason": "wait" } });
    let (wish, socket) = (wish.to_string(), arena.root.join(".swarm/run/coordinator.sock"));
    let mut asked = UnixStream::connect(socket).expect("a coordinator");
    let head = "POST /v1/commands HTTP/1.1\r\nHost: swarm\r\nContent-Type: application/json\r\n";
    write!(asked, "{head}Content-Length: {}\r\n\r\n{wish}", wish.len()).expect("it reads");
    // Nobody reads the answer; what the ledger says is all there is to know.
    wait_for("it is done", || arena.status_of("1.2") == "blocked");
    run.kill_9();
    drop(asked);
    let arguments = json!({ "do": "block", "task": "1.2", "reason": "wait", "id": "wish-2" });
    for mut pipe in [Pipe::newer(&arena, &[]), Pipe::older(&arena, &[])] {
        assert_eq!(pipe.ok("swarm_stop", arguments.clone())["repeated"], true);
    }
    let log = arena.json(&["op", "log"]);
    let times =
        log.as_array().expect("a list").iter().filter(|operation| operation["id"] == "wish-2").count();
    assert_eq!(times, 1, "{log}");
    arena.ok(&["stop"]);
    arena.is_judged();
}

#[test]
fn work_that_was_submitted_is_known_by_its_id_whatever_its_worktree_shows_by_now() {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete"), task("1.2", &[], "complete")]]);
    let mut pipe = Pipe::newer(&arena, &[]);
    let made = pipe.ok("swarm_worktree_create", json!({ "task": "1.1" }));
    let place = arena.root.join(made["path"].as_str().expect("a path"));
    let at = place.display().to_string();
    std::fs::write(place.join("one.txt"), "one").expect("a file");
    arena.git(&["-C", &at, "add", "one.txt"]);
    arena.git(&["-C", &at, "commit", "--quiet", "--message", "feat: one"]);
    let submit = |task: &str| json!({ "task": task, "id": "mine" });
    let told = pipe.ok("swarm_complete", submit("1.1"));
    // A new wish would be refused for this.
    std::fs::write(place.join("two.txt"), "two").expect("a file");
    for mut pipe in [Pipe::newer(&arena, &[]), Pipe::older(&arena, &[])] {
        let again = pipe.ok("swarm_complete", submit("1.1"));
        assert_eq!((&again["repeated"], &again["seq"]), (&json!(true), &told["seq"]), "{again}");
        assert!(pipe.refused("swarm_complete", submit("1.2"))["message"].is_string());
    }
}
