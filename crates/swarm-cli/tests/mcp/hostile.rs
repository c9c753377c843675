//! Clients that break: garbage, frames of 64 MiB, answers that nobody asked for, a death in the middle of a call.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};
use crate::pipe::Pipe;

fn planned() -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
    arena.is_judged();
    arena
}

/// Largest resident memory of a process so far, in KiB.
fn memory_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a figure");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

#[test]
fn garbage_is_answered_as_such_and_the_next_request_is_answered_too() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    for bytes in [
        &b"\n\n\n"[..],
        b"this is no frame\n",
        b"{\"jsonrpc\":\"2.0\",\n",
        b"\xff\xfe\x00\x01 binary \n",
        b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}\n",
    ] {
        pipe.send_bytes(bytes).expect("it reads");
    }
    for _ in 0..3 {
        let told = pipe.next();
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!(null), &json!(-32_700)), "{told}");
    }
    for method in ["tools/call", "resources/read"] {
        pipe.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": method }));
        let told = pipe.next();
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!(9), &json!(-32_602)), "{told}");
    }
    assert_eq!(pipe.ok("swarm_status", json!({}))["counts"]["total"], 1);
}

/// Git, hooks, the log on stderr and mistakes of the client: none of it comes between two frames or after the last.
#[test]
fn stdout_holds_frames_and_nothing_else() {
    let arena = planned();
    let hook = arena.root.join(".swarm/hooks/on-pause.sh");
    arena.write(".swarm/hooks/on-pause.sh", "#!/bin/sh\necho SAYS-THE-HOOK\n");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let mut pipe = Pipe::newer(&arena, &["--verbose"]);
    for (tool, arguments) in [
        ("swarm_init", json!({})),
        ("swarm_checkpoint", json!({ "do": "make", "name": "here" })),
        ("swarm_worktree_create", json!({ "task": "1.1" })),
        ("swarm_stop", json!({ "do": "pause" })),
        ("swarm_run", json!({ "do": "resume" })),
        ("swarm_stop", json!({ "do": "fly" })),
        ("no_such_tool", json!({})),
        ("swarm_status", json!({})),
    ] {
        // Each line is a frame, and the next one answers this call.
        let frame = pipe.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(frame["result"].is_object() || frame["error"].is_object(), "{frame}");
    }
    pipe.send_bytes(b"no frame\n").expect("it reads");
    assert_eq!(pipe.next()["error"]["code"], -32_700);
    let rest = pipe.rest();
    assert!(rest.iter().all(|line| line.starts_with('{')), "{rest:?}");
    assert!(!rest.concat().contains("SAYS-THE-HOOK"), "{rest:?}");
}

#[test]
fn a_frame_of_64_mib_is_dropped_and_costs_no_memory() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    pipe.ok("swarm_status", json!({}));
    let before = memory_kib(pipe.child.id());
    pipe.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"")
        .expect("it reads");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        pipe.send_bytes(&piece).expect("it reads on");
    }
    pipe.send_bytes(b"\"}}\n").expect("it reads");
    assert_eq!(pipe.ok("swarm_status", json!({}))["counts"]["total"], 1);
    let grown = memory_kib(pipe.child.id()).saturating_sub(before);
    assert!(grown < 40 * 1024, "{grown} KiB");
}

/// A plan that fits into no result.
fn save_many(pipe: &mut Pipe) {
    let many: Vec<_> = (1..=300).map(|n| task(&format!("1.{n}"), &[], "complete")).collect();
    pipe.ok(
        "save_plan",
        json!({ "plan": { "goal": "much", "phases": [{ "id": 1, "name": "all", "tasks": many }] } }),
    );
}

#[test]
fn a_long_result_is_cut_and_paged() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    save_many(&mut pipe);
    let (mut after, mut seen) = (serde_json::Value::Null, 0);
    loop {
        let page = pipe.ok("swarm_tasks", json!({ "after": after, "limit": 60 }));
        seen += page["tasks"].as_array().map_or(0, Vec::len);
        assert!(page.get("cut").is_none(), "{page}");
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(seen, 300);
    let status = pipe.ok("swarm_status", json!({}));
    assert!(status.to_string().len() <= 21_000, "{}", status.to_string().len());
}

#[test]
fn what_does_not_fit_into_a_result_is_on_its_next_page() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    save_many(&mut pipe);
    let (mut after, mut tasks) = (json!(null), 0);
    loop {
        let page = pipe.ok("swarm_tasks", json!({ "after": after, "limit": 200 }));
        assert!(page.get("cut").is_none(), "{page}");
        tasks += page["tasks"].as_array().map_or(0, Vec::len);
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(tasks, 300);
    let (mut from, mut seen) = (json!(1), Vec::new());
    loop {
        let page = pipe.ok("swarm_history", json!({ "from": from, "limit": 200 }));
        assert!(page.get("cut").is_none(), "{page}");
        let rows = page["records"].as_array().expect("rows");
        seen.extend(rows.iter().filter_map(|row| row["seq"].as_u64()));
        from = page["next"].clone();
        if from.is_null() {
            break;
        }
    }
    assert!(seen.len() > 300 && seen.iter().copied().eq(1..=seen.len() as u64), "{seen:?}");
    // The one after which it goes on is none of those that are looked for any more.
    pipe.ok("update_task_status", json!({ "task": "1.40", "status": "deferred" }));
    let page = pipe.ok("swarm_tasks", json!({ "status": "pending", "after": "1.40", "limit": 1 }));
    assert_eq!(page["tasks"][0]["id"], "1.41", "{page}");
    // And there it is not at all.
    let error = pipe.refused("swarm_tasks", json!({ "after": "1.301" }));
    assert_eq!(error["kind"], "unknown_task", "{error}");
}

#[test]
fn a_log_is_read_to_its_end_by_its_cursor_and_no_line_is_left_out() {
    let arena = arena_with(json!({ "agent": "script" }));
    let prints = (0..200).map(|n| format!("print line {n:03} {}", "x".repeat(100))).collect::<Vec<_>>();
    let script = format!("{}\nprint HERE\nsleep 600000", prints.join("\n"));
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let mut run = arena.start(&[]);
    wait_for("the agent is there", || arena.printed().contains("HERE"));
    let mut pipe = Pipe::newer(&arena, &[]);
    let (mut from, mut text) = (json!(0), String::new());
    loop {
        let page = pipe.ok("swarm_log", json!({ "run": "1.1", "from": from }));
        assert!(page.get("cut").is_none(), "{page}");
        text.push_str(&page["lines"].to_string());
        from = page["cursor"].clone();
        if page["end"] == true {
            break;
        }
    }
    let missing: Vec<_> = (0..200).filter(|n| !text.contains(&format!("line {n:03} "))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    run.kill_9();
    arena.ok(&["stop"]);
    arena.is_judged();
}

#[test]
fn a_client_that_dies_in_the_middle_of_a_call_leaves_no_process_and_no_half_deed() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    for n in 0..20 {
        let call = json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
            "name": "swarm_edit", "arguments": { "do": "add", "title": format!("Task {n}"), "id": format!("w-{n}") } } });
        pipe.send(&call);
    }
    let pid = pipe.child.id();
    // Its end of both pipes is closed while they are being carried out.
    drop(pipe);
    wait_for("the server is gone", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    arena.ok(&["plan", "verify"]);
    let added = arena.tasks().len() - 1;
    // Asked again by another client, each is there once.
    let mut pipe = Pipe::older(&arena, &[]);
    let mut repeated = 0;
    for n in 0..20 {
        let told = pipe
            .ok("swarm_edit", json!({ "do": "add", "title": format!("Task {n}"), "id": format!("w-{n}") }));
        repeated += usize::from(told["repeated"] == json!(true));
    }
    assert_eq!((repeated, arena.tasks().len()), (added, 21));
}

#[test]
fn an_id_that_was_used_for_another_wish_is_refused_and_the_same_wish_is_answered_again() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    let add = json!({ "do": "add", "title": "One", "id": "1" });
    pipe.ok("swarm_edit", add.clone());
    let refused = pipe.refused("swarm_run", json!({ "do": "mode", "mode": "semi-auto", "id": "1" }));
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`task add 1.2`")), "{refused}");
    assert_eq!(arena.json(&["status"])["mode"], "autopilot");
    assert_eq!(pipe.ok("swarm_edit", add)["repeated"], true);
    // The same tool with other arguments is another wish, too.
    let other = pipe.refused("swarm_edit", json!({ "do": "add", "title": "Two", "id": "1" }));
    assert!(other["message"].as_str().is_some_and(|text| text.contains("`task add 1.2`")), "{other}");
    let block = |task: &str| json!({ "do": "block", "task": task, "reason": "wait", "id": "b" });
    pipe.ok("swarm_stop", block("1.1"));
    let other = pipe.refused("swarm_stop", block("1.2"));
    assert!(other["message"].as_str().is_some_and(|text| text.contains("`task block 1.1`")), "{other}");
    assert_eq!(pipe.ok("swarm_stop", block("1.1"))["repeated"], true);
    assert_eq!(arena.tasks().iter().filter(|task| task["status"] == "blocked").count(), 1);
    assert_eq!(arena.tasks().len(), 2);
}

#[test]
fn a_client_that_reads_nothing_stands_in_nobodys_way_and_leaves_no_process() {
    let arena = planned();
    let mut command = arena.command(&["mcp"]);
    let command = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("swarm mcp starts");
    let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take());
    // Some megabytes of answers, none of which is taken.
    let asking = std::thread::spawn(move || {
        for n in 0..200 {
            let frame = json!({ "jsonrpc": "2.0", "id": n, "method": "tools/list",
                "params": { "_meta": crate::pipe::meta() } });
            if std::io::Write::write_all(&mut stdin, format!("{frame}\n").as_bytes()).is_err() {
                return;
            }
        }
    });
    let mut other = Pipe::newer(&arena, &["--verbose"]);
    assert_eq!(other.ok("swarm_status", json!({}))["counts"]["total"], 1);
    assert!(memory_kib(child.id()) < 300 * 1024);
    drop(stdout);
    asking.join().expect("it ends");
    let pid = child.id();
    let ended = std::thread::spawn(move || child.wait());
    wait_for("the server is gone", || ended.is_finished() || crate::arena::is_gone(pid));
}
