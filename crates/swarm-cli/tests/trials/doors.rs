//! Agents that turn to the swarm's own front ends: whatever they show, they are agents.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

/// What an agent must not be able to ask for, each with a word that the log is searched by.
const WISHES: &[(&str, &str)] = &[
    ("cancel", "task cancel 1.2"),
    ("defer", "task defer 1.2"),
    ("remove", "task remove 1.2"),
    ("block", "task block 1.2 --reason spite"),
    ("waive", "task waive 1.2 check --reason lazy"),
    ("add", "task add 'more work'"),
    ("reset", "plan reset"),
    ("approve", "plan approve"),
    ("pause", "pause"),
    ("stop", "agent stop ed-002"),
    ("close", "close --stop --yes"),
    ("rollback", "rollback --yes"),
];

/// 1.1 attacks while 1.2 works; what the attacker's commands answered is in its journal.
fn attack(steps: impl Fn(&Arena) -> String) -> (Arena, i32, String) {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let seen = arena.path("seen");
    let attacker = format!(
        "write mine.txt mine\ncommit feat: mine\n{}\nprint ATTACK-OVER\nwait-for {}\ncomplete",
        steps(&arena),
        seen.display()
    );
    let victim = format!("write theirs.txt theirs\nwait-for {}\ncommit feat: theirs\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &victim)]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the attack is over", || arena.printed().contains("ATTACK-OVER"));
    std::fs::write(arena.path("attention"), arena.attention()).expect("a file");
    std::fs::write(seen, "").expect("a file");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    (arena, code, said)
}

fn assert_unharmed(arena: &Arena, code: i32, said: &str) {
    let printed = arena.printed();
    assert_eq!(code, 0, "{said}\n{printed}");
    for task in arena.tasks() {
        assert_eq!(
            (&task["status"], &task["attempts"]),
            (&json!("done"), &json!(1)),
            "{task}\n{said}\n{printed}"
        );
    }
    assert_eq!(arena.tasks().len(), 2, "nothing was added or removed");
    assert_eq!(arena.commits("main", "feat: mine") + arena.commits("main", "feat: theirs"), 2);
    let status = arena.json(&["status"]);
    assert_eq!(status["paused"], json!([]), "{status}");
    assert_eq!(status["approved"]["approved"], json!(false), "{status}");
    arena.assert_tidy();
}

#[test]
fn the_commands_of_a_person_are_refused_to_an_agent() {
    let swarm = env!("CARGO_BIN_EXE_swarm");
    let (arena, code, said) = attack(|arena| {
        let root = arena.root.display();
        let mut steps = String::new();
        for (word, wish) in WISHES {
            // With its environment and without, in a session of its own and not.
            for (how, prefix) in [("", ""), ("-bare", "env -i "), ("-away", "setsid -w env -i ")] {
                steps.push_str(&format!(
                    "{prefix}{swarm} -C {root} {wish} </dev/null; echo ASKED {word}{how} exit $?\n"
                ));
            }
        }
        format!("sh sh {}", arena.script_beside("wishes.sh", &steps))
    });
    assert_unharmed(&arena, code, &said);
    let printed = arena.printed();
    let while_it_ran = std::fs::read_to_string(arena.path("attention")).expect("it");
    assert!(while_it_ran.contains("overstepped on task 1.1"), "{while_it_ran}\n{printed}");
    let granted: Vec<&str> =
        printed.lines().filter(|line| line.starts_with("ASKED") && line.ends_with(" exit 0")).collect();
    assert!(granted.is_empty(), "{granted:#?}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("ASKED")).count(), WISHES.len() * 3);
}

#[test]
fn an_agent_that_tries_is_on_the_attention_list() {
    let swarm = env!("CARGO_BIN_EXE_swarm");
    let (arena, code, said) = attack(|arena| {
        let wish =
            format!("{swarm} -C {} task cancel 1.2 </dev/null; echo ASKED exit $?\n", arena.root.display());
        format!("sh sh {}", arena.script_beside("wish.sh", &wish))
    });
    assert_unharmed(&arena, code, &said);
    assert!(arena.printed().contains("ASKED exit 1"), "{}", arena.printed());
    // Also when the task is long done: a person has to see it first.
    let list = arena.json(&["status"])["attention"].clone();
    let entry = list.as_array().and_then(|all| {
        all.iter().find(|entry| entry["what"] == json!("An agent overstepped on task 1.1")).cloned()
    });
    let entry = entry.unwrap_or_else(|| panic!("{list}"));
    assert_eq!(entry["why"], json!("swarm task cancel 1.2"), "{entry}");
    assert_eq!(entry["seen_by"], json!("overstep/1.1/1"), "{entry}");
    // With the very command that the entry offers.
    let offered = entry["commands"].as_array().and_then(|all| all.last()?.as_str());
    let words: Vec<&str> = offered.expect("a command").split_whitespace().skip(1).collect();
    arena.ok(&words);
    assert!(!arena.attention().contains("overstepped"), "{}", arena.attention());
}

/// Reads every file of secrets there is and says HELLO, and asks, with what it found.
const IMPOSTOR: &str = r#"
import glob, hashlib, hmac, json, os, socket, sys
root = sys.argv[1]
run = root + "/.swarm/run/"
def speak(what, *frames):
    try:
        s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(run + "coordinator.sock")
        for frame in frames:
            s.sendall(frame if isinstance(frame, bytes) else json.dumps(frame).encode() + b"\n")
        s.shutdown(socket.SHUT_WR) if frames and isinstance(frames[0], bytes) else None
        print("HEARD", what, s.recv(4000))
    except Exception as error:
        print("HEARD", what, repr(error))
for name in glob.glob(run + "*") + glob.glob(run + "daemons/*"):
    try:
        print("FOUND", os.path.basename(name), len(open(name, "rb").read()))
    except Exception as error:
        print("DENIED", os.path.basename(name), repr(error))
try:
    key = open(run + "secret.key", "rb").read()
    spec = json.load(open(run + "daemons/r2.spec.json"))
    secret = hmac.new(key, ("r2\n" + spec["nonce"]).encode(), hashlib.sha256).hexdigest()
    hello = {"kind": "hello", "run": "r2", "secret": secret, "version": "0.1.0", "host": "h", "epoch": 1, "sent": 3}
    ended = {"kind": "report", "n": 3, "report": {"frame": "ended", "how": {"kind": "cannot_do", "text": "posed"}}}
    fails = {"kind": "report", "n": 4, "report": {"frame": "boundary", "iteration": 1, "outcome": {"outcome": "cannot_do", "text": "posed"}, "tip": None, "note": None}}
    speak("daemon", hello, ended, fails)
except Exception as error:
    print("HEARD daemon", repr(error))
cancel = {"id": "01JCCCCCCCCCCCCCCCCCCCCCCC", "by": "person:cli", "command": {"do": "cancel_task", "task": "1.2"}}
for request in ({"ask": "command", "envelope": cancel}, {"kind": "submit", "envelope": cancel}, {"submit": cancel}):
    speak("command", request)
tokens = [open(p).read().strip() for p in glob.glob(run + "*token*") if os.access(p, os.R_OK)]
for token in tokens + ["none"]:
    body = json.dumps(cancel).encode()
    for path in ("/v1/commands", "/api/v1/commands", "/commands"):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        speak("http", head.encode() + body)
"#;

#[test]
fn an_agent_that_found_the_keys_is_refused_at_the_socket_all_the_same() {
    let (arena, code, said) = attack(|arena| {
        let program = IMPOSTOR.replace("sys.argv[1]", &format!("{:?}", arena.root.display().to_string()));
        let file = arena.script_beside("impostor.py", &program);
        format!("sh python3 {file}\nsh setsid -w env -i PATH=$PATH python3 {file}")
    });
    println!("{}", arena.printed());
    assert!(arena.printed().contains("HEARD"), "the impostor ran: {}", arena.printed());
    let while_it_ran = std::fs::read_to_string(arena.path("attention")).expect("it");
    assert!(while_it_ran.contains("overstepped on task 1.1"), "{while_it_ran}\n{}", arena.printed());
    assert_unharmed(&arena, code, &said);
}
