//! The table of every call against every role (`calls.json`): what a call is answered by an operator's door, a viewer's, to an
//! agent inside its attempt, and to nobody at all.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::http::{Door, list, planned, token};

/// A line of the table.
pub struct Call {
    pub tool: String,
    pub arguments: Value,
    answers: Value,
}

/// Refusals that are about who asks. Any other one is about what is asked, and means that this role may ask it.
const OF_ROLES: [&str; 4] = ["not_offered", "not_for_viewers", "not_for_agents", "no_token"];

impl Call {
    /// What this role is answered: `allowed`, or the kind of the refusal.
    pub fn answer_to(&self, role: &str) -> &str {
        self.answers[role].as_str().unwrap_or_else(|| panic!("{} says nothing of {role}", self.tool))
    }

    /// `kind`: of the refusal that came; none where it was not refused.
    pub fn is_answered(&self, role: &str, kind: Option<&str>) -> bool {
        match self.answer_to(role) {
            "allowed" => kind.is_none_or(|kind| !OF_ROLES.contains(&kind)),
            wanted => kind == Some(wanted),
        }
    }
}

pub fn calls() -> Vec<Call> {
    let table: Vec<Value> = serde_json::from_str(include_str!("calls.json")).expect("the table is JSON");
    let call = |row: Value| Call {
        tool: row["tool"].as_str().expect("a tool").to_owned(),
        arguments: row["arguments"].clone(),
        answers: row,
    };
    table.into_iter().map(call).collect()
}

/// What a member may be, where it is one of several words.
fn choices(schema: &Value) -> BTreeSet<String> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let list = |name: &str| schema[name].as_array().into_iter().flatten();
    let named = list("enum").filter_map(word).chain(word(&schema["const"]));
    named.chain(list("oneOf").flat_map(choices)).collect()
}

#[test]
fn every_tool_and_everything_that_it_can_do_stands_in_the_table() {
    let arena = planned();
    let door = Door::open(&arena);
    let (operator, _) = token(&arena, "operator");
    let (_, listed) = door.post(&operator, &list());
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    assert_eq!(tools.len(), 27);
    let table = calls();
    let mut words = 0;
    for tool in &tools {
        let name = tool["name"].as_str().expect("a name");
        let of_tool: Vec<&Call> = table.iter().filter(|call| call.tool == name).collect();
        assert!(!of_tool.is_empty(), "no call of {name} is in the table");
        for member in ["do", "to", "verdict"] {
            for word in choices(&tool["inputSchema"]["properties"][member]) {
                words += 1;
                let is_there = of_tool.iter().any(|call| call.arguments[member] == word.as_str());
                assert!(is_there, "no call of {name} with {member}: {word} is in the table");
            }
        }
        let reads = tool["annotations"]["readOnlyHint"] == true;
        for call in of_tool {
            assert_eq!(call.answer_to("viewer") == "allowed", reads, "{name} for a viewer");
        }
    }
    assert!(words > 30, "{words}");
}

/// Who asks by HTTP: with the token of a role, or with one that nobody has.
fn asked_by_http(arena: &Arena, role: &str) {
    let door = Door::open(arena);
    let shown = match role {
        "nobody" => "swarm-token-of-nobody".to_owned(),
        role => token(arena, role).0,
    };
    for call in calls() {
        let frame = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": { "name": call.tool, "arguments": call.arguments } });
        let (status, answer) = door.post(&shown, &frame);
        let at_the_door = answer["error"]["kind"].as_str();
        let kind = at_the_door.or_else(|| answer["result"]["structuredContent"]["error"]["kind"].as_str());
        assert_eq!(status, if role == "nobody" { 401 } else { 200 }, "{} {}", call.tool, call.arguments);
        assert!(
            role == "nobody" || answer["result"].is_object(),
            "{role}: {} {}: {answer}",
            call.tool,
            call.arguments
        );
        assert!(call.is_answered(role, kind), "{role}: {} {}: {answer}", call.tool, call.arguments);
    }
}

#[test]
fn every_tool_is_there_for_the_roles_that_it_is_for_and_for_no_other() {
    let arena = planned();
    let before = arena.json(&["status"])["seq"].clone();
    for role in ["nobody", "viewer"] {
        asked_by_http(&arena, role);
        assert_eq!(arena.json(&["status"])["seq"], before, "{role} has changed something");
    }
    asked_by_http(&arena, "operator");
    assert_ne!(arena.json(&["status"])["seq"], before, "an operator changes something");
}
