//! `codex exec --json`: events without any code of an error; only `turn.failed` is final.

use serde_json::Value;
use swarm_protocol::failure::{FailureClass, Usage};

use super::super::call::{shown_input, whole_input};
use super::super::failing::{failed, failure};
use super::super::heard::Heard;
use super::super::json::{array, count, event, field, text};
use super::super::reading::{Conclusion, ExitFacts, gone};
use super::{reconnects, turn_failed};

#[derive(Default)]
pub struct Exec {
    end: Option<End>,
}

enum End {
    Completed,
    Failed(String),
}

impl Exec {
    pub fn out(&mut self, line: &str, heard: &mut Heard) {
        let Some(event) = event(line) else { return };
        let item = field(&event, "item");
        match text(&event, "type") {
            Some("thread.started") => heard.session = text(&event, "thread_id").map(str::to_owned),
            Some("item.started") => starts(item, heard),
            Some("item.completed") => completed(item, heard),
            Some("error") => {
                let message = text(&event, "message").unwrap_or_default();
                if let Some(why) = message.strip_prefix("Reconnecting...") {
                    reconnects(message, failure(None, why), heard);
                }
            }
            Some("turn.completed") => {
                heard.tokens_of_session = true;
                heard.usage = Usage { steps: heard.usage.steps.max(1), ..usage(field(&event, "usage")) };
                heard.said_all = true;
                self.end = Some(End::Completed);
            }
            Some("turn.failed") => {
                let message = text(field(&event, "error"), "message").unwrap_or_default();
                heard.said_all = true;
                self.end = Some(End::Failed(message.to_owned()));
            }
            _ => {}
        }
    }

    pub fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        match &self.end {
            Some(End::Failed(message)) => Conclusion::Failed(turn_failed(message, "", &Value::Null, heard)),
            Some(End::Completed) if heard.has_said_anything() => {
                Conclusion::Done { denied: heard.denied.clone() }
            }
            Some(End::Completed) => {
                Conclusion::Failed(failed(FailureClass::Unknown, "the model gave an empty answer"))
            }
            None => Conclusion::Failed(gone(heard, exit)),
        }
    }
}

fn starts(item: &Value, heard: &mut Heard) {
    let id = text(item, "id").unwrap_or_default();
    match text(item, "type") {
        Some("command_execution") => {
            let command = text(item, "command").unwrap_or_default();
            heard.tool_starts(id, "shell", command, Some(command));
        }
        // Only the names of the files are told: two changes of one file are not the same change.
        Some("file_change") => heard.tool_starts(id, "edit", &changed(item), None),
        Some("mcp_tool_call") => {
            let (name, input) = (text(item, "tool").unwrap_or("mcp"), field(item, "arguments"));
            heard.tool_starts(id, name, &shown_input(input), whole_input(name, input).as_deref());
        }
        Some("web_search") => {
            let query = text(item, "query").unwrap_or_default();
            heard.tool_starts(id, "web search", query, Some(query));
        }
        _ => {}
    }
}

fn completed(item: &Value, heard: &mut Heard) {
    let id = text(item, "id").unwrap_or_default();
    let ok = text(item, "status").is_none_or(|status| status == "completed");
    match text(item, "type") {
        Some("agent_message") => {
            heard.steps();
            heard.says(text(item, "text").unwrap_or_default());
        }
        // A very short command is told only at its end.
        Some("command_execution" | "file_change" | "mcp_tool_call" | "web_search" | "todo_list") => {
            starts(item, heard);
            heard.steps();
            heard.tool_ends(id, ok);
        }
        // `error` here is only a warning.
        _ => {}
    }
}

fn changed(item: &Value) -> String {
    array(item, "changes").iter().filter_map(|change| text(change, "path")).collect::<Vec<_>>().join(" ")
}

fn usage(tokens: &Value) -> Usage {
    Usage {
        input_tokens: count(tokens, "input_tokens"),
        output_tokens: count(tokens, "output_tokens"),
        cached_tokens: count(tokens, "cached_input_tokens"),
        cost_micros: 0,
        estimated_micros: 0,
        steps: 0,
    }
}
