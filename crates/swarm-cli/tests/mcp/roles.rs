//! Commands against roles: a person, and a process inside an attempt, with and without a coordinator.

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::calls::{Call, calls};
use crate::ground::{arena_with, task};

/// A client that makes each call of the table and prints what it was answered.
fn client(swarm: &str, root: &str) -> String {
    let mut text = String::from(
        "import json, subprocess, sys\n\
         def ask(wishes):\n\
         \x20   p = subprocess.Popen([SWARM, '-C', ROOT, 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n\
         \x20   for n, (tool, args) in enumerate(wishes):\n\
         \x20       f = {'jsonrpc': '2.0', 'id': n, 'method': 'tools/call', 'params': {'name': tool, 'arguments': json.loads(args)}}\n\
         \x20       p.stdin.write(json.dumps(f).encode() + b'\\n'); p.stdin.flush()\n\
         \x20       a = json.loads(p.stdout.readline())\n\
         \x20       r = a.get('result', {})\n\
         \x20       s = r.get('structuredContent', {})\n\
         \x20       e = s.get('error', {})\n\
         \x20       w = e.get('kind') if r.get('isError') else 'PREVIEW' if s.get('done') is False else 'GRANTED'\n\
         \x20       print('ASKED', n, 'PROTOCOL' if 'error' in a else w, tool, args, e.get('message'), flush=True)\n\
         \x20   p.stdin.close(); p.wait()\n",
    );
    text.push_str(&format!("SWARM = {swarm:?}\nROOT = {root:?}\nask(["));
    for Call { tool, arguments, .. } in calls() {
        text.push_str(&format!("({tool:?}, {:?}), ", arguments.to_string()));
    }
    text.push_str("])\nprint('ASKED-ALL', flush=True)\n");
    text
}

/// Each call with the line that says how it was answered, and the kind of the refusal in it.
fn answered(arena: &Arena) -> Vec<(Call, String, Option<String>)> {
    let printed = arena.printed();
    let lines: Vec<&str> = printed.lines().filter(|line| line.starts_with("ASKED ")).collect();
    let table = calls();
    assert_eq!(lines.len(), table.len(), "{printed}");
    let with_line = |(call, line): (Call, &&str)| {
        let kind =
            line.split(' ').nth(2).filter(|word| !["GRANTED", "PREVIEW"].contains(word)).map(str::to_owned);
        (call, (*line).to_owned(), kind)
    };
    table.into_iter().zip(&lines).map(with_line).collect()
}

#[test]
fn nothing_is_granted_to_an_agent_and_everything_stays_as_it_was() {
    let arena = arena_with(json!({ "agent": "script", "mcp": { "confirm": "model" } }));
    let (go, seen) = (arena.path("go"), arena.path("seen"));
    let script = arena
        .script_beside("client.py", &client(env!("CARGO_BIN_EXE_swarm"), &arena.root.display().to_string()));
    let attacker = format!(
        "write mine.txt mine\ncommit feat: mine\nsh python3 {script}\nprint ATTACK-OVER\nwait-for {}\ncomplete",
        seen.display()
    );
    let victim = format!("write theirs.txt theirs\nwait-for {}\ncommit feat: theirs\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &victim)]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the attack is over", || arena.printed().contains("ATTACK-OVER"));
    let told = arena.attention();
    std::fs::write(seen, "").expect("a file");
    std::fs::write(go, "").expect("a file");
    assert_eq!(run.end().0, 0);
    for (call, line, kind) in answered(&arena) {
        assert!(call.is_answered("agent", kind.as_deref()), "{line}");
    }
    assert!(told.contains("overstepped on task 1.1"), "{told}");
    for task in arena.tasks() {
        assert_eq!(
            (&task["status"], &task["attempts"]),
            (&json!("done"), &json!(1)),
            "{task}\n{}",
            arena.printed()
        );
    }
    assert_eq!(arena.tasks().len(), 2, "nothing was added or removed");
    let status: Value = arena.json(&["status"]);
    assert_eq!((&status["paused"], &status["approved"]["approved"]), (&json!([]), &json!(false)), "{status}");
    assert_eq!(status["mode"], "autopilot", "{status}");
}

#[test]
fn without_a_coordinator_an_agent_writes_nothing_either() {
    let arena = arena_with(json!({ "agent": "script" }));
    let script = arena
        .script_beside("client.py", &client(env!("CARGO_BIN_EXE_swarm"), &arena.root.display().to_string()));
    let attacker = format!(
        "print HERE\nwait-for {}\nsh python3 {script}\nprint ATTACK-OVER\nsleep 600000",
        arena.path("go").display()
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &["1.1"], "complete")]]);
    let mut run = arena.start(&[]);
    wait_for("the agent is there", || arena.printed().contains("HERE"));
    run.kill_9();
    let before = arena.json(&["status"])["seq"].clone();
    std::fs::write(arena.path("go"), "").expect("a file");
    wait_for("the attack is over", || arena.printed().contains("ATTACK-OVER"));
    // Nobody is there to tell who asks: whatever changes something is refused, looking is not.
    for (call, line, kind) in answered(&arena) {
        let is_free = call.answer_to("viewer") == "allowed";
        assert!(is_free || kind.is_some() || line.contains(" PREVIEW "), "{line}");
    }
    let printed = arena.printed();
    assert_eq!(arena.json(&["status"])["seq"], before, "{printed}");
    arena.ok(&["stop"]);
    arena.is_judged();
}
