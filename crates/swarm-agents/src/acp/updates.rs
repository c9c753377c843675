//! `session/update`: what an ACP agent says and does while it works on a prompt.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::call::{is_waiting, shown_input, whole_input};
use super::super::heard::Heard;
use super::super::json::{array, field, micros, text};

/// Tool calls that are remembered.
const CALLS_MAX: usize = 10_000;

#[derive(Default)]
pub struct Updates {
    /// Calls for which permission was asked and which have not been seen to succeed.
    asked: BTreeMap<String, String>,
    tools: u64,
    /// Calls that have begun and not ended.
    open: BTreeSet<String>,
    /// Calls that began before it was told what they are about.
    vague: BTreeMap<String, Vague>,
    /// Each message of the agent is one call of the model, as far as can be seen.
    speaking: bool,
}

/// What is known of a call without its input.
struct Vague {
    name: String,
    title: String,
    place: String,
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
            // A list of what is to do is written by a call of the model like any other.
            Some("plan") => {
                self.speaking = false;
                heard.steps();
                heard.goes_on();
            }
            Some("tool_call" | "tool_call_update") => self.told_of(update, heard),
            Some("usage_update") => {
                let cost = field(field(update, "cost"), "amount").as_f64();
                heard.usage.cost_micros = cost.map_or(heard.usage.cost_micros, micros);
            }
            _ => {}
        }
    }

    /// A word about a call. The first one begins it, whatever kind of word it is: some agents ask for permission and
    /// then tell only how it ended.
    fn told_of(&mut self, call: &Value, heard: &mut Heard) {
        let id = text(call, "toolCallId").unwrap_or_default();
        let over = matches!(text(call, "status"), Some("completed" | "failed"));
        // More about one that has ended (its output, once more) is no new call, unless it ends once more.
        let is_call = text(call, "sessionUpdate") == Some("tool_call") || text(call, "status").is_some();
        if !self.open.contains(id) && is_call {
            self.begins(call, heard);
        }
        let input = field(call, "rawInput");
        if let Some(vague) = self.vague.get(id)
            && let Some(whole) = whole_input(&vague.name, input)
        {
            heard.tool_is_about(&vague.name, &shown_input(input), &whole);
            self.vague.remove(id);
        }
        if over {
            self.ends(id, text(call, "status") == Some("completed"), call, heard);
        }
    }

    fn begins(&mut self, call: &Value, heard: &mut Heard) {
        self.tools += 1;
        self.speaking = false;
        heard.steps();
        let title = text(call, "title").unwrap_or("a tool");
        let id = text(call, "toolCallId").unwrap_or_default();
        let name = tool_name(call).unwrap_or(title);
        let input = field(call, "rawInput");
        let whole = whole_input(name, input);
        if self.open.len() >= CALLS_MAX {
            self.open.pop_first();
        }
        self.open.insert(id.to_owned());
        if whole.is_none() && self.vague.len() < CALLS_MAX && !is_waiting(name) {
            let place = field(call, "locations").to_string();
            self.vague.insert(id.to_owned(), Vague { name: name.to_owned(), title: title.to_owned(), place });
        }
        heard.tool_starts(id, title, &shown_input(input), whole.as_deref());
    }

    fn ends(&mut self, id: &str, ok: bool, call: &Value, heard: &mut Heard) {
        self.open.remove(id);
        if ok {
            self.asked.remove(id);
        }
        // Never told what it was about: then what it was called and what came of it is what two calls have in common.
        if let Some(Vague { name, title, place }) = self.vague.remove(id) {
            let came = field(call, "content");
            if !ok || !array(call, "content").is_empty() {
                heard.tool_is_about(&name, &title, &format!("{title} {place} {came}"));
            }
        }
        heard.tool_ends(id, ok);
    }

    pub fn permission_asked(&mut self, params: &Value, may_be_denied: bool, heard: &mut Heard) {
        let call = field(params, "toolCall");
        let id = text(call, "toolCallId").unwrap_or_default();
        self.speaking = false;
        heard.goes_on();
        heard.denied_last |= may_be_denied;
        if may_be_denied && self.asked.len() < CALLS_MAX {
            self.asked.insert(id.to_owned(), text(call, "title").unwrap_or("a tool").to_owned());
        }
        if !self.open.contains(id) {
            self.begins(call, heard);
        }
    }

    /// Nothing was allowed that could be: the call will not be made.
    pub fn permission_refused(&mut self, params: &Value, heard: &mut Heard) {
        let call = field(params, "toolCall");
        self.ends(text(call, "toolCallId").unwrap_or_default(), false, call, heard);
    }

    /// The agent wanted something done for it that nobody does: a call that failed.
    pub fn declined(&mut self, method: &str, params: &Value, heard: &mut Heard) {
        self.tools += 1;
        self.speaking = false;
        heard.steps();
        heard.tool_ran(method, &shown_input(params), whole_input(method, params).as_deref(), false);
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
