//! Refusals that teach: what could not be done, why, and the call that helps.

use serde_json::{Map, Value, json};
use swarm_protocol::api::ApiError;

/// The call that was refused.
pub struct Asked<'a> {
    pub tool: &'a str,
    pub arguments: &'a Map<String, Value>,
}

/// Bytes of a call that is named as the next one.
const NEXT_MAX: usize = 4 << 10;

/// As a tool's result: `error` with kind, message and hint, and `next` where a call helps.
pub fn refusal(error: &ApiError, asked: &Asked<'_>) -> Value {
    let mut inner = json!({ "kind": error.kind, "message": error.message, "hint": error.hint });
    match next(error, asked) {
        Some(next) if next.to_string().len() <= NEXT_MAX => inner["next"] = next,
        // Cut to fit it would be another call; the id is what makes the same one safe to repeat.
        Some(_) if asked.arguments.contains_key("id") => inner["id"] = asked.arguments["id"].clone(),
        _ => {}
    }
    let hint = match error.hint.as_str() {
        "" => String::new(),
        hint => format!(" ({hint})"),
    };
    json!({ "text": format!("{}{hint}", error.message), "error": inner })
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

/// The call that helps: by the kind of refusal, else by the command that the hint names.
fn next(error: &ApiError, asked: &Asked<'_>) -> Option<Value> {
    let again = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut arguments = asked.arguments.clone();
        change(&mut arguments);
        Some(call(asked.tool, Value::Object(arguments)))
    };
    match error.kind.as_str() {
        "lost" => again(&|_| {}),
        "preview_changed" | "not_as_shown" => again(&|arguments| drop(arguments.remove("expect"))),
        "has_dependents" if asked.tool == "swarm_rollback" => {
            again(&|arguments| drop(arguments.insert("cascade".into(), true.into())))
        }
        "no_plan" => Some(call("save_plan", json!({ "plan": { "goal": "…", "phases": [] } }))),
        "unknown_task" => Some(call("swarm_tasks", json!({}))),
        "unknown_operation" => Some(call("swarm_history", json!({}))),
        "person_needed" => Some(call("swarm_wait", json!({ "until": "change" }))),
        "bad_arguments" | "not_for_agents" | "not_over_mcp" => None,
        _ => by_command(&error.hint),
    }
}

/// The tool for a command of the command line, as far as it only looks or is harmless.
fn by_command(hint: &str) -> Option<Value> {
    let words: Vec<&str> = hint.trim_matches('`').split_whitespace().collect();
    Some(match words.as_slice() {
        ["swarm", "status", ..] => call("swarm_status", json!({})),
        ["swarm", "attention", ..] => call("swarm_attention", json!({})),
        ["swarm", "task", "list", ..] => call("swarm_tasks", json!({})),
        ["swarm", "task", "show", task, ..] => call("swarm_task", json!({ "task": task })),
        ["swarm", "task", "unblock", task, ..] => {
            call("update_task_status", json!({ "task": task, "status": "pending" }))
        }
        ["swarm", "task", "start", task, ..] => {
            call("update_task_status", json!({ "task": task, "status": "active" }))
        }
        ["swarm", "worktree", "create", task, ..] => call("swarm_worktree_create", json!({ "task": task })),
        ["swarm", "worktree", "list", ..] => call("swarm_worktree_list", json!({})),
        ["swarm", "agent", "stop", task, ..] => call("swarm_stop", json!({ "do": "stop", "task": task })),
        ["swarm", "resume", ..] => call("swarm_run", json!({ "do": "resume" })),
        ["swarm", "plan", "approved", ..] => call("get_approved_plan", json!({})),
        ["swarm", "plan", "history", ..] => call("swarm_history", json!({})),
        ["swarm", "plan", "reset", ..] => call("swarm_plan", json!({ "do": "reset" })),
        ["swarm", "init", ..] => call("swarm_init", json!({})),
        ["swarm", "undo", ..] => call("swarm_undo", json!({})),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_of(kind: &str, hint: &str, tool: &str, arguments: Value) -> Value {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let asked = Asked { tool, arguments: &arguments };
        refusal(&ApiError::new(kind, "It cannot be done", hint), &asked)["error"]["next"].clone()
    }

    #[test]
    fn a_lost_answer_is_asked_for_by_the_same_call() {
        let arguments = json!({ "do": "pause", "id": "w-1" });
        let next = next_of("lost", "", "swarm_stop", arguments.clone());
        assert_eq!(next, json!({ "tool": "swarm_stop", "arguments": arguments }));
    }

    #[test]
    fn a_call_that_would_not_fit_is_not_named_in_part() {
        let arguments = json!({ "plan": "x".repeat(NEXT_MAX), "id": "w-1" });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let asked = Asked { tool: "save_plan", arguments: &arguments };
        let told = refusal(&ApiError::new("lost", "No answer", "Call it again"), &asked);
        assert_eq!((&told["error"]["next"], &told["error"]["id"]), (&Value::Null, &json!("w-1")));
    }

    #[test]
    fn what_changed_since_it_was_shown_is_shown_again() {
        let next =
            next_of("preview_changed", "", "swarm_rollback", json!({ "to": "session", "expect": "ab" }));
        assert_eq!(next, json!({ "tool": "swarm_rollback", "arguments": { "to": "session" } }));
    }

    #[test]
    fn a_hint_for_the_command_line_becomes_a_call() {
        assert_eq!(
            next_of("x", "swarm task show 1.2", "t", json!({})),
            json!({ "tool": "swarm_task", "arguments": { "task": "1.2" } })
        );
        assert_eq!(next_of("x", "Wait a moment", "t", json!({})), Value::Null);
    }
}
