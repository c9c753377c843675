//! Commands against roles: a person, and a process inside an attempt, with and without a coordinator.

use serde_json::{Value, json};

use crate::arena::wait_for;
use crate::ground::{arena_with, task};

/// A call of each tool that changes something, as an agent would like to make it.
pub const WISHES: &[(&str, &str)] = &[
    ("swarm_init", "{}"),
    ("save_plan", r#"{"plan":{"goal":"mine","phases":[]}}"#),
    ("update_task_status", r#"{"task":"1.2","status":"cancelled"}"#),
    ("phase_complete", r#"{"phase":1}"#),
    ("swarm_edit", r#"{"do":"add","title":"more"}"#),
    ("swarm_plan", r#"{"do":"approve"}"#),
    ("swarm_run", r#"{"do":"mode","mode":"semi-auto"}"#),
    ("swarm_stop", r#"{"do":"pause"}"#),
    ("swarm_checkpoint", r#"{"do":"make","name":"mine"}"#),
    ("swarm_rollback", r#"{"to":"session","expect":"0000"}"#),
    ("swarm_undo", r#"{"expect":"0000"}"#),
    (
        "swarm_review",
        r#"{"task":"1.2","verdict":"approve","commit":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#,
    ),
    ("swarm_complete", r#"{"task":"1.2"}"#),
    ("swarm_worktree_create", r#"{"task":"mine"}"#),
    ("swarm_worktree_merge", r#"{"task":"1.2"}"#),
    ("swarm_worktree_cleanup", r#"{"task":"1.2"}"#),
    ("swarm_log", r#"{"run":"1.2"}"#),
];

/// A client that asks each of them and prints what it was answered.
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
         \x20       e = r.get('structuredContent', {}).get('error', {})\n\
         \x20       print('ASKED', tool, 'refused' if r.get('isError') else 'GRANTED', e.get('kind'), e.get('message'), flush=True)\n\
         \x20   p.stdin.close(); p.wait()\n",
    );
    text.push_str(&format!("SWARM = {swarm:?}\nROOT = {root:?}\nask(["));
    for (tool, arguments) in WISHES {
        text.push_str(&format!("({tool:?}, {arguments:?}), "));
    }
    text.push_str("])\nprint('ASKED-ALL', flush=True)\n");
    text
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
    let printed = arena.printed();
    let asked: Vec<&str> = printed.lines().filter(|line| line.starts_with("ASKED ")).collect();
    assert_eq!(asked.len(), WISHES.len(), "{printed}");
    let granted: Vec<&&str> = asked.iter().filter(|line| line.contains("GRANTED")).collect();
    assert!(granted.is_empty(), "{granted:#?}");
    assert!(told.contains("overstepped on task 1.1"), "{told}");
    for task in arena.tasks() {
        assert_eq!((&task["status"], &task["attempts"]), (&json!("done"), &json!(1)), "{task}\n{printed}");
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
    let printed = arena.printed();
    let granted: Vec<&str> =
        printed.lines().filter(|line| line.starts_with("ASKED ") && line.contains("GRANTED")).collect();
    assert!(granted.is_empty(), "{granted:#?}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("ASKED ")).count(), WISHES.len(), "{printed}");
    assert_eq!(arena.json(&["status"])["seq"], before, "{printed}");
    arena.ok(&["stop"]);
    arena.is_judged();
}
