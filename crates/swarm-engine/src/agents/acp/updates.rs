//! `session/update`: what an ACP agent says and does while it works on a prompt.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::call::{shown_input, whole_input};
use super::super::heard::Heard;
use super::super::json::{array, field, micros, text};

/// Tool calls that are remembered.
const CALLS_MAX: usize = 10_000;

#[derive(Default)]
pub struct Updates {
    /// Calls for which permission was asked and which have not been seen to succeed.
    asked: BTreeMap<String, String>,
    tools: u64,
    /// Calls that began before it was told what they are about, by their names.
    vague: BTreeMap<String, String>,
    /// Each message of the agent is one call of the model, as far as can be seen.
    speaking: bool,
}

impl Updates {
    pub fn take(&mut self, update: &Value, heard: &mut Heard) {
        match text(update, "sessionUpdate") {
            Some("agent_message_chunk") => {
                if !self.speaking {
                    heard.steps();
                }
                self.speaking = true;
                heard.says_part(text(field(update, "content"), "text").unwrap_or_default());
            }
            Some("agent_thought_chunk") => heard.goes_on(),
            Some("tool_call") => self.called(update, heard),
            Some("tool_call_update") => self.updated(update, heard),
            Some("usage_update") => {
                let cost = field(field(update, "cost"), "amount").as_f64();
                heard.usage.cost_micros = cost.map_or(heard.usage.cost_micros, micros);
            }
            _ => {}
        }
    }

    fn called(&mut self, call: &Value, heard: &mut Heard) {
        self.tools += 1;
        self.speaking = false;
        heard.steps();
        let title = text(call, "title").unwrap_or("a tool");
        let id = text(call, "toolCallId").unwrap_or_default();
        let name = tool_name(call).unwrap_or(title);
        let input = field(call, "rawInput");
        let whole = whole_input(name, input);
        if whole.is_none() && self.vague.len() < CALLS_MAX {
            self.vague.insert(id.to_owned(), name.to_owned());
        }
        // Of a call that runs already this is only the rest.
        heard.tool_starts(id, title, &shown_input(input), whole.as_deref());
        self.updated(call, heard);
    }

    fn updated(&mut self, call: &Value, heard: &mut Heard) {
        let id = text(call, "toolCallId").unwrap_or_default();
        let input = field(call, "rawInput");
        if let Some(name) = self.vague.get(id).cloned()
            && let Some(whole) = whole_input(&name, input)
        {
            self.vague.remove(id);
            heard.tool_is_about(&name, &shown_input(input), &whole);
        }
        match text(call, "status") {
            Some("completed") => {
                self.asked.remove(id);
                heard.tool_ends(id, true);
            }
            Some("failed") => heard.tool_ends(id, false),
            _ => {}
        }
    }

    pub fn permission_asked(&mut self, params: &Value, may_be_denied: bool, heard: &mut Heard) {
        let call = field(params, "toolCall");
        self.speaking = false;
        self.tools += 1;
        heard.goes_on();
        heard.denied_last |= may_be_denied;
        if may_be_denied && self.asked.len() < CALLS_MAX {
            let id = text(call, "toolCallId").unwrap_or_default().to_owned();
            self.asked.insert(id, text(call, "title").unwrap_or("a tool").to_owned());
        }
    }

    pub fn any_tool(&self) -> bool {
        self.tools > 0
    }

    /// Asked for, and never done.
    pub fn denied(&self) -> Vec<String> {
        self.asked.values().cloned().collect()
    }
}

/// The program's own name of the tool, where an agent tells it; titles differ from call to call.
fn tool_name(call: &Value) -> Option<&str> {
    text(field(field(call, "_meta"), "claudeCode"), "toolName")
}

/// The option that allows, for as long as possible.
pub fn allowing(params: &Value) -> Option<&str> {
    let options = array(params, "options");
    ["allow_always", "allow_once"].iter().find_map(|kind| {
        options.iter().find(|option| text(option, "kind") == Some(kind)).and_then(|o| text(o, "optionId"))
    })
}
