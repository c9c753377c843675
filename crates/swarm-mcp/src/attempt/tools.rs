//! What the seven are for and what they take. The daemon checks what comes; this is what models read.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};
use swarm_protocol::attempt::TEXT_MAX;

fn text(about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": TEXT_MAX, "description": about })
}

/// Name, what it is for, members, and those of them that are needed.
fn described() -> [(&'static str, &'static str, Value, Value); 7] {
    [
        (
            "swarm_context",
            "Your task as the swarm knows it: goal, title, description, acceptance, tasks it builds on, files, reserved files, messages of people, learnings, checks. As it was when this iteration began.",
            json!({}),
            json!([]),
        ),
        (
            "swarm_complete",
            "Everything of your task is done. End your turn after it: the work is checked, reviewed and merged.",
            json!({ "summary": text("What was done, in a few sentences") }),
            json!([]),
        ),
        (
            "swarm_blocked",
            "You cannot go on until a person has decided or done something. End your turn after it.",
            json!({ "reason": text("What is needed; it begins with sandbox-denied when you were not allowed what the work needs") }),
            json!(["reason"]),
        ),
        (
            "swarm_ask",
            "Asks a person one question. It returns at once; end your turn, and the answer is in your next prompt. Do not ask what you can find out.",
            json!({
                "question": text("The question, with all that is needed to answer it"),
                "choices": {
                    "type": "array", "maxItems": 8, "description": "Answers to choose from",
                    "items": { "type": "string", "minLength": 1, "maxLength": 200 },
                },
            }),
            json!(["question"]),
        ),
        (
            "swarm_progress",
            "How much of your task is done, for people who watch.",
            json!({ "percent": { "type": "integer", "minimum": 0, "maximum": 100 } }),
            json!(["percent"]),
        ),
        (
            "swarm_learning",
            "Keeps something that is worth knowing the next time somebody works here.",
            json!({
                "text": text("What was learned, in one or two sentences"),
                "scope": { "type": "string", "enum": ["persona", "all"], "default": "persona",
                    "description": "persona: agents like you; all: every agent" },
            }),
            json!(["text"]),
        ),
        (
            "swarm_reserve",
            "Reserves files for your task besides those it has, until it is merged. All of them or none; refused at once where somebody else has them.",
            json!({
                "globs": {
                    "type": "array", "minItems": 1, "maxItems": 50,
                    "items": { "type": "string", "minLength": 1 },
                    "description": "Files, written from the top of the repository on: src/parser/**",
                },
                "mode": { "type": "string", "enum": ["exclusive", "shared"], "default": "exclusive",
                    "description": "exclusive: nobody else changes them; shared: others may share them too" },
            }),
            json!(["globs"]),
        ),
    ]
}

pub fn offered() -> Vec<Tool> {
    let tool = |(name, about, members, needed): (&'static str, &'static str, Value, Value)| {
        let schema = json!({
            "type": "object", "properties": members, "required": needed, "additionalProperties": false,
        });
        let annotations = ToolAnnotations::new()
            .read_only(name == "swarm_context")
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, about, Arc::new(schema)).with_annotations(annotations)
    };
    described().into_iter().map(tool).collect()
}

#[cfg(test)]
mod tests {
    use swarm_protocol::attempt::{AgentCall, CallFrame, TOOLS};

    use super::*;

    /// Something that the member's description allows.
    fn sample(schema: &Value) -> Value {
        match schema["type"].as_str() {
            Some("integer") => schema["maximum"].clone(),
            Some("array") => json!([sample(&schema["items"])]),
            _ => schema["enum"].get(1).cloned().unwrap_or_else(|| json!("src/a.rs")),
        }
    }

    #[test]
    fn what_is_described_is_what_is_taken() {
        let names: Vec<String> = offered().iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, TOOLS);
        for tool in offered() {
            let (name, schema) = (tool.name.to_string(), tool.input_schema.as_ref().clone());
            let members = schema["properties"].as_object().expect("members");
            let all: serde_json::Map<String, Value> =
                members.iter().map(|(name, schema)| (name.clone(), sample(schema))).collect();
            let read = |arguments: Value| AgentCall::read(CallFrame { tool: name.clone(), arguments });
            read(Value::Object(all.clone())).expect(&name);
            let needed = schema["required"].as_array().expect("a list");
            for member in members.keys() {
                let mut fewer = all.clone();
                fewer.remove(member);
                let is_needed = needed.contains(&json!(member));
                assert_eq!(read(Value::Object(fewer)).is_err(), is_needed, "{name} without {member}");
            }
        }
    }
}
