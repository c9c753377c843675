//! Agent programs that are missing, not set up, or whose service says no: told at once or tried again
//! later, and never a retry burned for either.
//!
//! The program is a small script that prints what the real one printed (recordings under `agents/captures`)
//! and ends as it did.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use crate::arena::{Arena, Running};
use crate::ground::arena_with;

fn recording(program: &str, name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../agents/captures");
    root.join(program).join(name).canonicalize().expect("a recording")
}

/// A program in the arena that plays recordings one after the other, the last one again and again, and
/// works like a good agent when there are no more (`then_works`).
fn player(arena: &Arena, program: &str, names: &[&str], then_works: bool) -> PathBuf {
    let mut script = String::from("#!/bin/sh\n[ \"$1\" = --version ] && { echo 2.1.325; exit 0; }\n");
    // Counted in its own worktree, where it may write; the file is removed before it is committed.
    script.push_str("n=$(cat .played 2>/dev/null || echo 0)\necho $((n + 1)) > .played\ncase $n in\n");
    for (at, name) in names.iter().enumerate() {
        let dir = recording(program, name);
        let exit = std::fs::read_to_string(dir.join("exit")).expect("an exit code");
        let last = !then_works && at + 1 == names.len();
        let case = if last { "*".to_owned() } else { at.to_string() };
        script.push_str(&format!(
            "{case}) cat '{0}/stdout'; cat '{0}/stderr' >&2; exit {1} ;;\n",
            dir.display(),
            exit.trim()
        ));
    }
    if then_works {
        let good = recording(program, "text");
        script.push_str(&format!(
            "*) rm -f .played; echo done > done.txt; git add done.txt; git -c user.name=A -c user.email=a@b commit -qm 'feat: done' \n\
             sed 's/Hello from the fake model\\./<swarm>COMPLETE<\\/swarm>/g' '{}/stdout'; exit 0 ;;\n",
            good.display()
        ));
    }
    script.push_str("esac\n");
    let file = arena.path(program);
    std::fs::write(&file, script).expect("the player");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("executable");
    file
}

/// An arena with one task whose agent is this player.
fn played(program: &str, names: &[&str], then_works: bool) -> (Arena, i32, String) {
    let arena = arena_with(json!({}));
    let file = player(&arena, program, names, then_works);
    let config = json!({
        "mode": "autopilot", "agent": "played",
        "profiles": { "played": { "program": program, "command": [file] } },
        "recovery": { "maxRetries": 2, "backoffMax": "1s" }, "stop": { "grace": "1s", "drain": "1s" },
    });
    arena.write(".swarm/config.json", &config.to_string());
    arena.plan(&[("1.1", &[], "complete".into())]);
    let (code, said) = arena.run_as_configured(&[]);
    (arena, code, said)
}

/// Blocked for a person at the first try, with words that help.
fn check_told_at_once(program: &str, name: &str, words: &[&str]) {
    let began = Instant::now();
    let (arena, code, said) = played(program, &[name], false);
    let view = arena.shown("1.1");
    let all = format!("{said}\n{}\n{}\n{}", arena.ok(&["status"]), arena.attention(), view);
    assert_eq!(code, 1, "{program} {name}: {all}");
    assert_eq!(
        (&view["status"], &view["block"]),
        (&json!("blocked"), &json!("setup")),
        "{program} {name}: {all}"
    );
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(1), &json!(0)), "{program} {name}: {all}");
    for word in words {
        assert!(all.contains(word), "{program} {name} does not say {word:?}: {all}");
    }
    assert!(all.contains("swarm task unblock 1.1"), "{program} {name}: {all}");
    arena.assert_nothing_runs();
    println!("{program} {name}: told after {:.1} s", began.elapsed().as_secs_f64());
}

#[test]
fn a_program_that_is_not_set_up_blocks_its_task_at_once() {
    check_told_at_once("claude", "unknown_flag", &["--no-such-flag"]);
    check_told_at_once("claude", "no_key", &["log"]);
    check_told_at_once("claude", "auth", &["key"]);
    check_told_at_once("claude", "billing", &["billing"]);
    check_told_at_once("codex", "auth", &["key"]);
    check_told_at_once("opencode", "auth", &["key"]);
    check_told_at_once("gemini", "auth", &["key"]);
}

#[test]
fn a_service_that_is_busy_is_tried_again_without_a_retry() {
    for (program, names) in [
        ("claude", &["overloaded", "rate_limit", "conn_refused"][..]),
        ("codex", &["rate_limit_noheader"][..]),
        ("opencode", &["server_error"][..]),
        ("gemini", &["drop"][..]),
    ] {
        let (arena, code, said) = played(program, names, true);
        let view = arena.shown("1.1");
        assert_eq!(code, 0, "{program}: {said}\n{view}");
        assert_eq!((&view["status"], &view["retries"]), (&json!("done"), &json!(0)), "{program}: {view}");
        assert_eq!(arena.commits("main", "feat: done"), 1);
        arena.assert_tidy();
    }
}

#[test]
fn a_program_that_is_not_installed_is_told_at_once_with_the_command_that_helps() {
    for program in ["claude", "codex", "gemini", "opencode"] {
        let arena = arena_with(json!({}));
        arena.plan(&[("1.1", &[], "complete".into())]);
        let mut command = arena.command(&["run", "--agent", program]);
        command.env("PATH", path_with_git_only(&arena));
        let began = Instant::now();
        let (code, said) = Running::of(command).end();
        let all = format!("{said}\n{}", arena.ok(&["status"]));
        assert_ne!(code, 0, "{program}: {all}");
        assert!(all.contains(program), "{program}: {all}");
        assert!(all.contains("not installed") || all.contains("not found"), "{program}: {all}");
        assert!(all.contains("install"), "{program}: {all}");
        let attempts = arena.shown("1.1")["attempts"].as_u64().expect("a number");
        assert!(attempts <= 1, "{program}: {attempts} attempts: {all}");
        assert!(began.elapsed().as_secs() < 60, "{program}: not at once");
        arena.assert_nothing_runs();
    }
}

/// Git and a shell, and nothing else that could be an agent.
fn path_with_git_only(arena: &Arena) -> String {
    let dir = arena.path("bin");
    let _ = std::fs::create_dir(&dir);
    for name in ["git", "sh", "env", "cat"] {
        let found = std::env::var("PATH").unwrap_or_default();
        let place = found.split(':').map(|d| PathBuf::from(d).join(name)).find(|p| p.exists());
        if let Some(place) = place {
            let _ = std::os::unix::fs::symlink(place, dir.join(name));
        }
    }
    dir.to_string_lossy().into_owned()
}

#[test]
fn a_profile_that_nobody_wrote_is_refused_with_those_there_are() {
    let arena = arena_with(json!({ "profiles": { "careful": { "program": "script" } } }));
    arena.plan(&[("1.1", &[], "complete".into())]);
    let out = arena.swarm(&["run", "--agent", "carefull"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success());
    assert!(said.contains("carefull") && said.contains("careful"), "{said}");
    assert_eq!(arena.starts("1.1"), 0);
}

/// Whatever a program says: what stands in the ledger of it names neither a secret nor a place of this machine.
#[test]
fn the_ledger_has_the_words_of_programs_without_secrets_and_places_of_the_machine() {
    let key = format!("sk-{}", "a1b2c3d4".repeat(4));
    let endings = [
        ("blocks", "echo \"<swarm>BLOCKED: $PWD/a.txt wants KEY</swarm>\""),
        ("fails", "echo \"<swarm>FAILED: $PWD/a.txt wants KEY</swarm>\""),
        ("crashes", "echo \"no $PWD/a.txt, KEY\" >&2; exit 3"),
    ];
    for (name, ending) in endings {
        let arena = arena_with(json!({}));
        let script = format!("cat > /dev/null; {}", ending.replace("KEY", &key));
        let config = json!({
            "mode": "autopilot", "agent": name,
            "profiles": { name: { "program": "exec", "command": ["sh", "-c", script] } },
            "recovery": { "maxRetries": 0, "maxCrashes": 1, "backoffMax": "1s" }, "stop": { "grace": "1s", "drain": "1s" },
        });
        arena.write(".swarm/config.json", &config.to_string());
        arena.plan(&[("1.1", &[], "complete".into())]);
        arena.run_as_configured(&[]);
        let ledger =
            std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
        assert!(ledger.contains("a.txt"), "{name}: its words are there: {ledger}");
        let root = arena.root.to_str().expect("text");
        let told: Vec<&str> =
            ledger.lines().filter(|line| line.contains(root) || line.contains(&key)).collect();
        assert!(told.is_empty(), "{name}: {told:#?}");
    }
}

/// What stands where the program should: a wrapper around nothing, a script without its interpreter, no program at all.
const CANNOT_START: &[(&str, &str, &str)] = &[
    ("a wrapper around nothing", "#!/bin/sh\nexec no-such-agent-program \"$@\"\n", "no-such-agent-program"),
    (
        "words before the end",
        "#!/bin/sh\necho starting\nexec no-such-agent-program\n",
        "no-such-agent-program",
    ),
    ("no interpreter", "#!/usr/bin/env no-such-interpreter\n", "no-such-interpreter"),
    ("no interpreter at its place", "#!/no/such/interpreter\n", "interpreter"),
    ("executes what may not be", "#!/bin/sh\nexec /etc/passwd\n", "ermission denied"),
    ("no program", "\u{1}\u{2}\u{3}", ""),
];

/// Blocked for a person at once: one attempt, no retry, nobody out of service, whatever program it was to be.
fn check_cannot_start(program: &str) {
    for (what, text, words) in CANNOT_START {
        let arena = arena_with(json!({}));
        let file = arena.path("agent-program");
        std::fs::write(&file, text).expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let config = json!({
            "mode": "autopilot", "agent": "broken",
            "profiles": { "broken": { "program": program, "command": [file] } },
            "recovery": { "maxRetries": 5, "backoffMax": "1s" }, "stop": { "grace": "1s", "drain": "1s" },
        });
        arena.write(".swarm/config.json", &config.to_string());
        arena.plan(&[("1.1", &[], "complete".into())]);
        let (code, said) = arena.run_as_configured(&[]);
        let view = arena.shown("1.1");
        let all = format!("{program}, {what}: {said}\n{}\n{view}", arena.ok(&["status"]));
        assert_eq!(code, 1, "{all}");
        assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("setup")), "{all}");
        assert_eq!((&view["attempts"], &view["retries"]), (&json!(1), &json!(0)), "{all}");
        assert!(
            view["why"].to_string().contains(words) || all.contains(words),
            "{words:?} is not said: {all}"
        );
        assert!(all.contains("swarm task unblock 1.1"), "{all}");
        let status = arena.json(&["status"]);
        assert!(status["paused"].as_array().is_none_or(Vec::is_empty), "{all}");
        assert!(!arena.ok(&["agent", "list"]).contains("out of service"), "{all}");
        arena.assert_nothing_runs();
    }
}

#[test]
fn a_claude_that_cannot_start_blocks_its_task_at_once() {
    check_cannot_start("claude");
}

#[test]
fn a_codex_that_cannot_start_blocks_its_task_at_once() {
    check_cannot_start("codex");
}

#[test]
fn a_gemini_that_cannot_start_blocks_its_task_at_once() {
    check_cannot_start("gemini");
}

#[test]
fn an_opencode_that_cannot_start_blocks_its_task_at_once() {
    check_cannot_start("opencode");
}

#[test]
fn an_acp_agent_that_cannot_start_blocks_its_task_at_once() {
    check_cannot_start("acp");
}
