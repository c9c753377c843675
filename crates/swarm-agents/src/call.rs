//! The input of a tool call: what a person recognises it by, and what makes two calls the same.

use serde_json::Value;

use super::json::text;

/// The part of a tool's input that a person recognises it by.
pub fn shown_input(input: &Value) -> String {
    for name in ["command", "file_path", "filePath", "path", "pattern", "query", "url", "description"] {
        if let Some(text) = text(input, name) {
            return text.to_owned();
        }
    }
    if input.is_null() { String::new() } else { input.to_string() }
}

/// Waiting for something is no circle, however often one asks.
const WAITING: &[&str] = &["BashOutput", "TaskOutput", "AgentOutputTool", "write_stdin", "Monitor", "Sleep"];

/// New in every call, whatever it does.
const PASSING: &[&str] = &[
    "description",
    "call_id",
    "turn_id",
    "id",
    "auto_approved",
    "process_id",
    "started_at_ms",
    "started_at",
    "timestamp",
    "toolCallId",
    "sessionId",
];

/// Where and how long, not what: alone they say nothing about a call. Some agents tell them before the rest.
const AROUND: &[&str] = &["cwd", "workdir", "timeout"];

/// Whether a call of this tool only asks how far something is.
pub fn is_waiting(name: &str) -> bool {
    WAITING.contains(&name)
}

/// Everything that matters of a tool's input; none where too little is told to say that two calls are the same.
pub fn whole_input(name: &str, input: &Value) -> Option<String> {
    let members = input.as_object().filter(|members| !members.is_empty())?;
    if is_waiting(name) {
        return None;
    }
    let mut members = members.clone();
    members.retain(|member, _| !PASSING.contains(&member.as_str()));
    let says_what = members.keys().any(|member| !AROUND.contains(&member.as_str()));
    says_what.then(|| Value::Object(members).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_calls_are_the_same_when_all_that_matters_is() {
        let whole = |input: Value| whole_input("Bash", &input);
        assert_eq!(
            whole(json!({ "command": "make", "description": "Build" })),
            whole(json!({ "command": "make", "description": "Build again" }))
        );
        // The same file, another change.
        assert_ne!(
            whole(json!({ "file_path": "a", "old_string": "x" })),
            whole(json!({ "file_path": "a", "old_string": "y" }))
        );
        // As codex tells it over ACP: only what is run is told the same way twice.
        assert_eq!(
            whole(
                json!({ "command": ["make"], "process_id": "57806", "started_at_ms": 1_794_702_444_984_u64 })
            ),
            whole(
                json!({ "command": ["make"], "process_id": "57911", "started_at_ms": 1_794_702_451_120_u64 })
            )
        );
        assert_eq!(whole(json!({})), None);
        // Where and how long it runs is not what it does, but the same command elsewhere is another one.
        assert_eq!(whole(json!({ "cwd": ".", "timeout": 5, "workdir": "/w", "description": "Build" })), None);
        assert_ne!(
            whole(json!({ "command": "make", "cwd": "a" })),
            whole(json!({ "command": "make", "cwd": "b" }))
        );
        assert_eq!(whole_input("BashOutput", &json!({ "bash_id": "1" })), None);
    }
}
