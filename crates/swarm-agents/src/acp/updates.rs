//! `session/update`: what an ACP agent says and does while it works on a prompt.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::call::{is_waiting, shown_input, whole_input};
use super::super::heard::Heard;
use super::super::json::{array, count, field, micros, text};

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
    /// Tokens in the context when that was told last.
    context: u64,
}

/// What is known of a call without its input.
struct Vague {
    name: String,
    title: String,
    place: String,
    /// What was told of its input last: for a person, and all of it. Some agents tell it piece by piece.
    about: Option<(String, String)>,
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
                heard.cost_of_session |= cost.is_some();
                self.counts(count(update, "used"), heard);
            }
            _ => {}
        }
    }

    /// Each call of the model reads the whole context: where no answer tells what was used, this is what is known.
    fn counts(&mut self, context: u64, heard: &mut Heard) {
        if context != self.context {
            heard.usage.input_tokens = heard.usage.input_tokens.saturating_add(context);
        }
        self.context = context;
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
        if let Some(vague) = self.vague.get_mut(id)
            && let Some(whole) = whole_input(&vague.name, input)
        {
            vague.about = Some((shown_input(input), whole));
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
        // What is still being written is not all of it: such a call is judged at its end.
        let told = whole_input(name, input).map(|whole| (shown_input(input), whole));
        let (whole, about) = match text(call, "status") {
            Some("pending") => (None, told),
            _ => (told.map(|(_, whole)| whole), None),
        };
        if self.open.len() >= CALLS_MAX {
            self.open.pop_first();
        }
        self.open.insert(id.to_owned());
        if whole.is_none() && self.vague.len() < CALLS_MAX && !is_waiting(name) {
            let place = field(call, "locations").to_string();
            let vague = Vague { name: name.to_owned(), title: title.to_owned(), place, about };
            self.vague.insert(id.to_owned(), vague);
        }
        heard.tool_starts(id, title, &shown_input(input), whole.as_deref());
    }

    fn ends(&mut self, id: &str, ok: bool, call: &Value, heard: &mut Heard) {
        self.open.remove(id);
        if ok {
            self.asked.remove(id);
        }
        match self.vague.remove(id) {
            Some(Vague { name, about: Some((input, whole)), .. }) => {
                heard.tool_is_about(&name, &input, &whole)
            }
            // Never told: then what it was called and what came of it is what two calls have in common.
            Some(Vague { name, title, place, about: None }) if !ok || !array(call, "content").is_empty() => {
                let came = field(call, "content");
                heard.tool_is_about(&name, &title, &format!("{title} {place} {came}"));
            }
            _ => {}
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::heard::AgentEvent;
    use super::*;

    /// Each call is told with these inputs, one after the other; answers with how many different calls were judged.
    fn different(calls: &[&[Value]]) -> (usize, usize) {
        let (mut updates, mut heard) = (Updates::default(), Heard::default());
        for (nth, inputs) in calls.iter().enumerate() {
            for (at, input) in inputs.iter().enumerate() {
                let status = match at {
                    0 => "pending",
                    _ if at + 1 == inputs.len() => "completed",
                    _ => "in_progress",
                };
                let kind = if at == 0 { "tool_call" } else { "tool_call_update" };
                let update = json!({ "sessionUpdate": kind, "toolCallId": format!("t{nth}"), "title": "bash", "status": status, "rawInput": input });
                updates.take(&update, &mut heard);
            }
        }
        let judged: Vec<u64> = heard
            .events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::ToolStarted { same, .. } => *same,
                AgentEvent::ToolKnown { same, .. } => Some(*same),
                _ => None,
            })
            .collect();
        (judged.len(), judged.into_iter().collect::<BTreeSet<u64>>().len())
    }

    #[test]
    fn a_call_is_judged_by_all_of_its_input_however_it_was_told() {
        let opencode =
            |command: &str| vec![json!({}), json!({ "cwd": "." }), json!({ "command": command, "cwd": "." })];
        let (make, test) = (opencode("make"), opencode("make test"));
        assert_eq!(different(&[&make, &test]), (2, 2));
        assert_eq!(different(&[&make, &make]), (2, 1));
        // The name of a file comes before what is written into it.
        let write = |text: &str| {
            vec![
                json!({ "filePath": "a" }),
                json!({ "filePath": "a" }),
                json!({ "filePath": "a", "content": text }),
            ]
        };
        assert_eq!(different(&[&write("x"), &write("y")]), (2, 2));
        // Nothing but where: neither the same nor different.
        let where_only = vec![json!({}), json!({ "workdir": "/w", "timeout": 1 })];
        assert_eq!(different(&[&where_only, &where_only]), (0, 0));
    }
}
