//! Agents that use the tools against others, and against the daemon that serves them.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::json;

use super::arena;
use crate::arena::wait_for;
use crate::ground::{arena_with, has, task};

/// Speaks with a socket of tools as no server of ours would, and prints what comes.
const RAW: &str = r#"
import json, os, socket, sys
def ask(data, path=None, end=b'\n'):
    s = socket.socket(socket.AF_UNIX); s.settimeout(60)
    try:
        s.connect(path or os.environ['SWARM_TOOLS'])
        s.sendall(data + end)
        answer = s.makefile().readline().strip()
        return json.loads(answer) if answer else 'NOTHING'
    except OSError as e:
        return 'NOTHING'
def call(tool, arguments, **more):
    return ask(json.dumps({'tool': tool, 'arguments': arguments, **more}).encode())
def told(name, answer):
    print('TOLD', name, 'GRANTED' if answer != 'NOTHING' and answer['ok'] else 'refused',
          answer if answer == 'NOTHING' else answer['text'], flush=True)
"#;

#[test]
fn another_task_is_out_of_reach_whatever_is_sent() {
    let arena = arena();
    let (go, seen) = (arena.path("go"), arena.path("seen"));
    let mut attack = RAW.to_owned();
    for tool in
        ["swarm_complete", "swarm_blocked", "swarm_ask", "swarm_progress", "swarm_learning", "swarm_reserve"]
    {
        for member in ["task", "run", "agent", "taskId"] {
            let arguments = json!({
                "reason": "r", "question": "q", "percent": 99, "text": "t", "globs": ["theirs/**"], member: "1.2",
            });
            let needed = match tool {
                "swarm_blocked" => "reason",
                "swarm_ask" => "question",
                "swarm_progress" => "percent",
                "swarm_learning" => "text",
                "swarm_reserve" => "globs",
                _ => member,
            };
            let kept = json!({ needed: arguments[needed], member: "1.2" });
            attack.push_str(&format!("told('{tool} {member}', call('{tool}', json.loads('''{kept}''')))\n"));
        }
        attack.push_str(&format!("told('{tool} beside', call('{tool}', {{}}, task='1.2'))\n"));
    }
    attack.push_str("told('unknown', call('update_task_status', {'task': '1.2', 'status': 'cancelled'}))\nprint('ATTACKED', flush=True)\n");
    let attack = arena.script_beside("attack.py", &attack);
    let attacker = format!(
        "write mine.txt mine\nsh SWARM_TASK=1.2 SWARM_RUN=r2 SWARM_AGENT_ID=ed-002 python3 {attack}\nwait-for {}\ncomplete",
        seen.display()
    );
    let victim = format!("write theirs.txt theirs\nwait-for {}\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &victim)]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the attack is over", || arena.printed().contains("ATTACKED"));
    let (status, held) = (arena.status_of("1.2"), arena.json(&["reservations"]));
    std::fs::write(seen, "").expect("a file");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    let printed = arena.printed();
    let told: Vec<&str> = printed.lines().filter(|line| line.starts_with("TOLD")).collect();
    assert_eq!(told.len(), 31, "{printed}");
    let granted: Vec<&&str> = told.iter().filter(|line| line.contains("GRANTED")).collect();
    assert!(granted.is_empty(), "{granted:#?}");
    assert_eq!((status.as_str(), held), ("active", json!([])));
    assert_eq!(code, 0, "{said}");
    for view in arena.tasks() {
        assert_eq!((&view["status"], &view["attempts"]), (&json!("done"), &json!(1)), "{view}");
    }
    arena.assert_tidy();
}

/// Behind walls it cannot even see the socket; without them it may say what it likes, and is not of the run.
#[test]
fn a_process_of_another_run_and_one_of_nobody_are_refused() {
    for sandbox in ["landlock", "none"] {
        let arena = arena_with(json!({ "sandbox": sandbox }));
        // Behind walls only what lay there before can be read.
        std::fs::create_dir(arena.path("loot")).expect("a folder");
        let (socket, go, seen) = (arena.path("loot/socket"), arena.path("go"), arena.path("seen"));
        let attack = format!(
            "{RAW}\npath = open('{}').read().strip()\nos.environ['SWARM_NONCE'] = os.path.basename(os.path.dirname(path))[6:]\n\
             if len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, sys.argv[0], 'again'])\n\
             frame = json.dumps({{'tool': 'swarm_blocked', 'arguments': {{'reason': 'forged'}}}}).encode()\n\
             told('other run', ask(frame, path))\nprint('ATTACKED', flush=True)\n",
            socket.display()
        );
        let attack = arena.script_beside("attack.py", &attack);
        let attacker =
            format!("write mine.txt mine\nwait-for {}\nsh python3 {attack}\ncomplete", socket.display());
        let victim = format!(
            "write theirs.txt theirs\nsh echo AT $SWARM_TOOLS\nwait-for {}\nwait-for {}\ncomplete",
            go.display(),
            seen.display()
        );
        arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &victim)]]);
        let run = arena.start(&["--agents", "2"]);
        let mut at = None;
        wait_for("the victim has said where its tools are", || {
            at = arena.printed().lines().find_map(|line| line.strip_prefix("AT ").map(str::to_owned));
            at.is_some()
        });
        let at = at.expect("a place");
        assert!(at.contains("swarm-") && at.ends_with("/tools"), "{at}");
        std::fs::write(arena.path("loot/socket.tmp"), &at).expect("a file");
        std::fs::rename(arena.path("loot/socket.tmp"), &socket).expect("a file");
        wait_for("the attack is over", || arena.printed().contains("ATTACKED"));
        // A person's own process is none of the run's either.
        let mut person = UnixStream::connect(&at).expect("a person reaches every file of theirs");
        person.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let _ = person.write_all(b"{\"tool\":\"swarm_blocked\",\"arguments\":{\"reason\":\"forged\"}}\n");
        let mut answer = String::new();
        let _ = person.read_to_string(&mut answer);
        assert_eq!(answer, "", "nothing is said to a stranger");
        std::fs::write(seen, "").expect("a file");
        std::fs::write(go, "").expect("a file");
        let (code, said) = run.end();
        assert_eq!(code, 0, "{sandbox}: {said}\n{}", arena.printed());
        has(&arena.printed(), &["TOLD other run refused NOTHING"]);
        let ledger =
            std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
        has(&ledger, &["none of this run's asked for its tools"]);
        for view in arena.tasks() {
            assert_eq!((&view["status"], &view["attempts"]), (&json!("done"), &json!(1)), "{view}");
        }
        arena.assert_tidy();
    }
}

#[test]
fn garbage_large_frames_callers_that_hang_and_a_thousand_calls_stop_nobody() {
    let arena = arena();
    let attack = format!(
        "{RAW}\n\
         told('garbage', ask(b'\\xff\\x00 garbage'))\n\
         told('no object', ask(b'[1, 2]'))\n\
         told('cut off', ask(b'{{\"tool\": \"swarm_complete\"', end=b''))\n\
         told('large', ask(b'{{\"tool\": \"' + b'x' * (64 << 20)))\n\
         told('long', call('swarm_blocked', {{'reason': 'x' * 60000}}))\n\
         hung = []\n\
         for n in range(20):\n\
         \x20   s = socket.socket(socket.AF_UNIX); s.connect(os.environ['SWARM_TOOLS']); s.sendall(b'{{'); hung.append(s)\n\
         told('beside those that hang', call('swarm_progress', {{'percent': 7}}))\n\
         answers = [call('swarm_progress', {{'percent': n % 100}}) for n in range(1000)]\n\
         print('OF A THOUSAND', sum(1 for a in answers if a != 'NOTHING' and a['ok']), flush=True)\n\
         told('after all', call('swarm_blocked', {{'reason': 'too late'}}))\n"
    );
    let attack = arena.script_beside("attack.py", &attack);
    // The tag stays valid when no more calls are taken.
    let script = format!("write a.txt a\nsh python3 {attack}\nprint ATTACKED\ncomplete");
    arena.plan(&[("1.1", &[], script)]);
    let (code, said) = arena.run(&[]);
    let printed = arena.printed();
    assert_eq!(code, 0, "{said}\n{printed}");
    has(
        &printed,
        &[
            "TOLD garbage refused this is not a call",
            "TOLD no object refused this is not a call",
            "TOLD large refused",
            "TOLD long refused reason has 60000 characters",
            "TOLD beside those that hang GRANTED Noted",
            "TOLD after all refused more than 500 calls of tools in one iteration",
            "ATTACKED",
        ],
    );
    let taken = printed.lines().find_map(|line| line.strip_prefix("OF A THOUSAND ")?.parse::<u32>().ok());
    assert!(taken.is_some_and(|taken| (400..500).contains(&taken)), "{taken:?}");
    arena.assert_proven("1.1", "main");
    assert_eq!(arena.starts("1.1"), 1);
    arena.assert_tidy();
}
