//! The log for support: one task can be followed in it, no secret stands in it, and nothing waits for it.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use crate::arena::{Arena, Running, files_below};

const CONFIG: &str = r#"{ "agent": "script", "stop": { "grace": "1s", "drain": "1s" } }"#;
const WORK: &str = "write a.txt a\ncommit feat: a\ncomplete";

fn logs(arena: &Arena) -> PathBuf {
    arena.root.join(".swarm/logs")
}

fn log(arena: &Arena, name: &str) -> String {
    std::fs::read_to_string(logs(arena).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The value of a field in a line: `task=1.1`, `event="task_claimed"`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let words = line.split([' ', '{', '}', ':']);
    words
        .filter_map(|word| word.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, v)| v.trim_matches('"'))
}

#[test]
fn a_task_is_followed_from_claim_to_merge_by_its_fields() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[
        ("1.1", &[], WORK.into()),
        ("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete".into()),
    ]);
    assert!(!logs(&arena).exists(), "a command that does one thing keeps no log");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    let log_of_coordinator = log(&arena, "coordinator.log");
    let of_task: Vec<&str> =
        log_of_coordinator.lines().filter(|line| field(line, "task") == Some("1.1")).collect();
    let recorded: Vec<(u64, &str)> = of_task
        .iter()
        .filter_map(|line| Some((field(line, "seq")?.parse().ok()?, field(line, "event")?)))
        .collect();
    let wanted = [
        "task_claimed",
        "workspace_ready",
        "agent_spawned",
        "work_submitted",
        "merge_built",
        "merge_completed",
    ];
    let mut rest = recorded.iter();
    for kind in wanted {
        assert!(rest.any(|(_, event)| *event == kind), "{kind} in its order: {recorded:?}");
    }
    assert!(recorded.windows(2).all(|two| two[0].0 < two[1].0), "{recorded:?}");
    for verb in ["Prepare", "Work", "Build", "Publish"] {
        assert!(of_task.iter().any(|line| field(line, "verb") == Some(verb)), "{verb}: {of_task:#?}");
    }
    let claim = of_task.iter().find(|line| field(line, "event") == Some("task_claimed")).expect("a claim");
    assert_eq!(field(claim, "run"), Some("r1"));
    let daemon = log(&arena, "daemon-r1.log");
    assert!(
        daemon.lines().all(|line| field(line, "run") == Some("r1") && field(line, "task") == Some("1.1")),
        "{daemon}"
    );
    assert!(daemon.contains("a program is started") && daemon.contains("the last word"), "{daemon}");
    assert!(log(&arena, "watcher.log").contains("the coordinator has ended"));
    let status = arena.git(&["status", "--porcelain", "--ignored=no", "--untracked-files=all"]);
    assert!(!status.contains("logs"), "{status}");
}

#[test]
fn a_secret_in_the_environment_or_the_arguments_of_an_agent_is_in_no_log_journal_or_ledger() {
    let arena = Arena::new("{}");
    let (given, told) = ("correct-horse-battery", "staple-by-argument");
    let agent = arena.path("agent.sh");
    let script = "#!/bin/sh\necho \"no: $OUR_TOKEN $*\" >&2\necho \"no: $OUR_TOKEN $*\"\nexit 3\n";
    std::fs::write(&agent, script).expect("the agent");
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let profile =
        json!({ "program": "exec", "command": [agent], "args": ["--api-key", told], "env": ["OUR_TOKEN"] });
    let config = json!({
        "mode": "autopilot", "agent": "ours", "profiles": { "ours": profile },
        "recovery": { "maxRetries": 1, "backoffMax": "1s" }, "stop": { "grace": "1s", "drain": "1s" },
    });
    arena.write(".swarm/config.json", &config.to_string());
    arena.plan(&[("1.1", &[], WORK.into())]);
    let mut command = arena.command(&["run", "-vv"]);
    command.env("OUR_TOKEN", given).env("SWARM_LOG", "trace");
    let (_, said) = Running::of(command).end();
    let files = files_below(&logs(&arena), ".log");
    let all: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).expect("text")).collect();
    assert!(all.len() >= 3, "coordinator, watcher and daemons: {files:?}");
    assert!(all.iter().any(|text| text.contains("program=\"agent.sh\"")), "the agent was started: {all:#?}");
    for secret in [given, told] {
        let traced = said
            .lines()
            .filter(|line| line.contains(" TRACE ") || line.contains(" DEBUG ") || line.contains(" INFO "));
        for text in all.iter().map(String::as_str).chain(traced) {
            let found = text.lines().find(|line| line.contains(secret));
            assert!(found.is_none(), "{found:?}");
        }
        for file in files_below(&arena.root.join(".swarm"), "") {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let kept = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            // What a person wrote into their own configuration, and what a daemon is started with, is not printed.
            let written = file.ends_with("config.json") || file.ends_with("spec.json");
            assert!(!kept || written, "{secret} is in {}", file.display());
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_stops_nothing() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], WORK.into())]);
    arena.write(".swarm/logs", "in the way");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    assert_eq!(std::fs::read_to_string(logs(&arena)).expect("it stays"), "in the way");
}

#[test]
fn verbose_says_git_calls_on_stderr_and_leaves_stdout_alone() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], WORK.into())]);
    let plain = arena.swarm(&["task", "list", "--json"]);
    let verbose = arena.swarm(&["task", "list", "--json", "-v"]);
    assert_eq!(plain.stdout, verbose.stdout);
    assert!(plain.stderr.is_empty());
    let said = String::from_utf8(verbose.stderr).expect("text");
    assert!(said.lines().any(|line| line.contains("git{command=") && field(line, "ms").is_some()), "{said}");
    assert!(said.contains("command{words=\"task list\""), "{said}");
    assert!(!logs(&arena).exists(), "-v alone keeps no file");
    let mut command = arena.command(&["task", "list"]);
    let asked = command.env("SWARM_LOG", "swarm_git=debug").output().expect("swarm runs");
    assert!(asked.status.success() && asked.stderr.is_empty());
    let kept = log(&arena, "commands.log");
    assert!(
        kept.contains("git{command=") && !kept.contains("begins"),
        "git's calls and nothing else: {kept}"
    );
    let mut command = arena.command(&["task", "list", "--json"]);
    let wrong = command.env("SWARM_LOG", "swarm=loud").output().expect("swarm runs");
    assert_eq!(wrong.stdout, plain.stdout);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("SWARM_LOG is not understood"));
}

#[test]
fn the_log_as_json_has_the_same_fields_and_the_trace_that_an_effect_is_part_of() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], WORK.into())]);
    let mut command = arena.command(&["run", "--agent", "script", "--mode", "autopilot"]);
    command.env("SWARM_LOG_FORMAT", "json").env("OUR_TOKEN", "correct-horse-battery");
    let (code, said) = Running::of(command).end();
    assert_eq!(code, 0, "{said}");
    let lines = |name: &str| -> Vec<serde_json::Value> {
        let text = log(&arena, name);
        assert!(!text.contains("correct-horse"), "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    };
    let all = lines("coordinator.log");
    assert!(all.iter().all(|line| ["ts", "level", "target"].iter().all(|name| line[name].is_string())));
    let claim = all.iter().find(|line| line["event"] == "task_claimed").expect("a claim");
    assert_eq!((&claim["task"], &claim["run"]), (&json!("1.1"), &json!("r1")), "{claim}");
    assert!(claim["seq"].as_u64().is_some_and(|seq| seq > 1) && claim["message"] == "recorded", "{claim}");
    let work = all.iter().find(|line| line["verb"] == "Work").expect("an effect");
    let trace = work["trace"].as_str().expect("its trace");
    assert!(arena.ok(&["trace", "export"]).contains(&format!("\"traceId\":\"{trace}\"")), "{work}");
    let daemon = lines("daemon-r1.log");
    assert!(!daemon.is_empty() && daemon.iter().all(|line| line["run"] == "r1"), "{daemon:?}");
}
