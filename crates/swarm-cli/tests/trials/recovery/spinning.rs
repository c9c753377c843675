//! An agent over ACP whose every command fails asks its model again and again inside one iteration. However it tells
//! of its commands, the circle is seen, or the number of steps is.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::hurried;
use crate::arena::{Arena, Running};

const STEPS_MAX: u64 = 30;
const LOOP_STOP: u64 = 6;

/// Tells of command after command that has failed, for as long as somebody listens, and counts them in `$COUNT`.
const PROGRAM: &str = r#"#!/bin/sh
[ "$1" = --version ] && exit 0
n=0
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1" || exit 0; }
update() { say "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{$1}}"; }
next() {
  n=$((n + 1))
  echo "$n" >> "COUNT"
  DIFFERS && c=$n || c=same
  CALLS
}
while read -r line; do
  case $line in
    *'"method":"initialize"'*) say '"id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"method":"session/new"'*) say '"id":1,"result":{"sessionId":"s"}' ;;
    *'"method":"session/prompt"'*) next ;;
    *) next ;;
  esac
done
"#;

/// As gemini does it: permission is asked, and then only the end is told.
const ASKS: &str = r#"say "\"id\":\"p$n\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\"options\":[{\"optionId\":\"a\",\"kind\":\"allow_once\"}],\"toolCall\":{\"toolCallId\":\"t$n\",\"title\":\"make $c\",\"status\":\"pending\"}}"
  update "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t$n\",\"title\":\"make $c\",\"status\":\"failed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"no rule to make $c\"}}]""#;

/// As codex does it: what it tells of a call has its time and its process in it.
const CALLS: &str = r#"update "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t$n\",\"title\":\"make\",\"status\":\"in_progress\",\"rawInput\":{\"command\":[\"make\",\"$c\"],\"process_id\":\"$n\",\"started_at_ms\":$n}"
  update "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t$n\",\"status\":\"failed\""
  say "\"id\":\"x$n\",\"method\":\"_ping\",\"params\":{}""#;

/// Wants a terminal, which nobody gives it.
const TERMINAL: &str = r#"say "\"id\":\"x$n\",\"method\":\"terminal/create\",\"params\":{\"sessionId\":\"s\",\"command\":\"make $c\"}""#;

/// Tells only that something under one and the same name has failed.
const UPDATES: &str = r#"update "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"title\":\"make $c\",\"status\":\"failed\""
  say "\"id\":\"x$n\",\"method\":\"session/request_permission\",\"params\":{\"toolCall\":{\"toolCallId\":\"t\",\"title\":\"make $c\"},\"options\":[]}""#;

fn spinning(calls: &str, differs: bool) -> (Arena, u64, String) {
    let loops = json!({ "note": 3, "stop": LOOP_STOP });
    let arena = hurried(json!({}));
    let (file, count) = (arena.path("acp-agent"), arena.path("count"));
    let program = PROGRAM
        .replace("CALLS", calls)
        .replace("DIFFERS", if differs { "true" } else { "false" })
        .replace("COUNT", &count.display().to_string());
    std::fs::write(&file, program).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let config = json!({
        "mode": "autopilot", "agent": "spins", "maxSteps": STEPS_MAX,
        "profiles": { "spins": { "program": "acp", "command": [file] } },
        "recovery": { "maxRetries": 0, "backoffMax": "1s", "loops": loops },
        "stop": { "grace": "1s", "drain": "1s" }, "sandbox": "none",
    });
    arena.write(".swarm/config.json", &config.to_string());
    arena.plan(&[("1.1", &[], "complete".into())]);
    let (_, said) = Running::of(arena.command(&["run"])).end();
    let made = std::fs::read_to_string(&count).unwrap_or_default().lines().count() as u64;
    (arena, made, said)
}

/// How much a program that is being ended may still tell before it is gone.
const LAST_BREATH: u64 = 10;

fn check(how: &str, calls: &str) {
    // The same command each time: nudged once, then over.
    let (arena, made, said) = spinning(calls, false);
    assert_eq!(arena.status_of("1.1"), "timeout", "{how}: {said}");
    assert!(made <= 2 * (LOOP_STOP + LAST_BREATH), "{how}: {made} calls\n{said}");
    assert!(said.contains("times"), "{how}: {said}");
    arena.assert_nothing_runs();
    // Another one each time: as many as there may be steps.
    let (arena, made, said) = spinning(calls, true);
    assert_eq!(arena.status_of("1.1"), "timeout", "{how}: {said}");
    assert!(made <= STEPS_MAX + LAST_BREATH, "{how}: {made} calls\n{said}");
    let why = arena.shown("1.1")["audit"].to_string();
    assert!(why.contains("calls of the model in one iteration"), "{how}: {why}");
    arena.assert_nothing_runs();
}

#[test]
fn commands_that_fail_after_permission_was_asked_are_counted() {
    check("asks", ASKS);
}

#[test]
fn commands_that_fail_and_are_told_with_their_process_are_counted() {
    check("calls", CALLS);
}

#[test]
fn commands_that_nobody_runs_for_the_agent_are_counted() {
    check("terminal", TERMINAL);
}

#[test]
fn commands_told_under_one_name_are_counted() {
    check("updates", UPDATES);
}
