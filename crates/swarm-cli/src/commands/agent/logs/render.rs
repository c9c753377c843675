//! What agent programs print, for people: most print JSON, one object a line, and each in its own way. What is
//! understood becomes a short line; what is not is shown as it is.

use serde_json::Value;
use swarm_agents::journal::{Line, Stream};

use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::output::time::time_of_day;

/// Enough of a line to know what it is about.
const SHOWN: usize = 240;
/// A printed line longer than this is no message that anybody could read.
const JOINED_MAX: usize = 1 << 20;
/// Lines of one message that are shown.
const LINES_MAX: usize = 40;

pub struct Renderer {
    colour: bool,
    /// The beginning of a line that was too long for one entry of the journal.
    begun: String,
    /// The last thing that was said, so that a summary at the end does not say it again.
    said: String,
}

impl Renderer {
    pub fn new(colour: bool) -> Self {
        Self { colour, begun: String::new(), said: String::new() }
    }

    /// The text for one entry; nothing for what nobody needs to read.
    pub fn line(&mut self, line: &Line) -> String {
        let mut text = std::mem::take(&mut self.begun);
        if text.len() < JOINED_MAX {
            text.push_str(&line.text);
        }
        if line.more {
            self.begun = text;
            return String::new();
        }
        let time = paint(self.colour, Paint::Dim, &time_of_day(line.ts));
        let shown = match line.stream {
            Stream::Swarm => vec![paint(self.colour, Paint::Dim, &format!("· {}", short(&text)))],
            Stream::Err => vec![paint(self.colour, Paint::Yellow, &format!("! {}", short(&text)))],
            Stream::Out => self.out(&text),
        };
        shown.iter().map(|line| format!("{time} {line}")).collect::<Vec<_>>().join("\n")
    }

    /// What was begun and never ended.
    pub fn rest(&mut self) -> String {
        short(&std::mem::take(&mut self.begun))
    }

    fn out(&mut self, text: &str) -> Vec<String> {
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => {
                let mut said = Vec::new();
                self.object(&value, &mut said);
                said
            }
            _ => vec![short(text)],
        }
    }

    /// Goes through the shapes that the known programs use.
    fn object(&mut self, value: &Value, said: &mut Vec<String>) {
        let kind = value["type"].as_str().or(value["method"].as_str()).unwrap_or_default();
        for part in parts(value) {
            self.part(part, said);
        }
        let failed = value["is_error"] == true || kind == "error" || kind.ends_with(".failed");
        if let Some(text) = error_text(value).filter(|_| failed || value["error"].is_object()) {
            said.push(paint(self.colour, Paint::Red, &format!("✗ {}", short(&text))));
        } else if kind == "result"
            && let Some(text) = value["result"].as_str()
        {
            self.says(text, said);
        }
        if let Some(text) = value["params"]["update"]["content"]["text"].as_str() {
            self.says(text, said);
        }
    }

    fn part(&mut self, part: &Value, said: &mut Vec<String>) {
        let kind = part["type"].as_str().unwrap_or_default();
        match kind {
            "text" | "agent_message" | "assistant_message" | "output_text" | "agentMessage" => {
                let text = part["text"].as_str().or(part["content"].as_str());
                self.says(text.unwrap_or_default(), said);
            }
            "tool_use" | "function_call" | "tool_call" | "tool" => {
                let name = ["name", "tool", "tool_name"].iter().find_map(|key| part[*key].as_str());
                let input =
                    [&part["input"], &part["state"]["input"], &part["parameters"], &part["arguments"]];
                let input = input.into_iter().find(|value| !value.is_null());
                self.tool(name.unwrap_or("tool"), input, said);
            }
            "command_execution" | "commandExecution" => self.tool("sh", Some(&part["command"]), said),
            "file_change" | "fileChange" => self.tool("edit", Some(&part["changes"]), said),
            "tool_result" | "tool_output" if part["is_error"] == true => {
                let text = plain(&part["content"]);
                said.push(paint(self.colour, Paint::Red, &format!("  ✗ {}", short(&text))));
            }
            "message" if part["role"] == "assistant" => {
                if let Some(text) = part["content"].as_str() {
                    self.says(text, said);
                }
            }
            _ => {}
        }
    }

    fn tool(&self, name: &str, input: Option<&Value>, said: &mut Vec<String>) {
        let what = input.map(essence).unwrap_or_default();
        let line = if what.is_empty() { format!("▸ {name}") } else { format!("▸ {name}: {what}") };
        said.push(paint(self.colour, Paint::Bold, &short(&line)));
    }

    fn says(&mut self, text: &str, said: &mut Vec<String>) {
        let text = text.trim();
        if text.is_empty() || self.said == text {
            return;
        }
        self.said = text.to_owned();
        said.extend(text.lines().take(LINES_MAX).map(short));
        let more = text.lines().count().saturating_sub(LINES_MAX);
        if more > 0 {
            said.push(format!("… {more} more lines"));
        }
    }
}

/// The pieces of a message, wherever this program keeps them.
fn parts(value: &Value) -> Vec<&Value> {
    let lists = [&value["message"]["content"], &value["content"], &value["parts"]];
    let mut parts: Vec<&Value> = lists.into_iter().filter_map(Value::as_array).flatten().collect();
    let single = [&value["item"], &value["part"], &value["params"]["item"]];
    parts.extend(single.into_iter().filter(|part| part["type"].is_string()));
    if parts.is_empty() {
        parts.push(value);
    }
    // A tool that has begun is told; that it goes on or has ended well is not.
    let again = value["type"] == "item.completed" || value["method"] == "item/completed";
    parts.retain(|part| {
        !again || !matches!(part["type"].as_str(), Some("command_execution" | "commandExecution"))
    });
    parts
}

fn error_text(value: &Value) -> Option<String> {
    let places = [&value["error"]["message"], &value["error"], &value["message"], &value["result"]];
    places.into_iter().find_map(|place| place.as_str().map(str::to_owned))
}

/// What a tool was called with, in one line: the command or the file, if it is one of those.
fn essence(input: &Value) -> String {
    let keys = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description"];
    let known = keys.iter().map(|key| &input[*key]).find(|value| !value.is_null());
    plain(known.unwrap_or(input))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        }
        Value::Array(items) if items.iter().any(|item| item["text"].is_string()) => {
            items.iter().filter_map(|item| item["text"].as_str()).collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn short(text: &str) -> String {
    let line = text.lines().map(str::trim_end).find(|line| !line.is_empty()).unwrap_or_default();
    let cut = line.char_indices().nth(SHOWN).map(|(at, _)| at);
    let more = cut.is_some() || text.trim_end().lines().count() > 1;
    let line = harmless(&line[..cut.unwrap_or(line.len())]);
    if more { format!("{line} …") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_protocol::time::Timestamp;

    fn check(printed: &[&str], expected: &str) {
        let mut renderer = Renderer::new(false);
        let lines = printed.iter().map(|text| Line {
            n: 1,
            ts: Timestamp::ZERO,
            stream: Stream::Out,
            text: (*text).into(),
            more: false,
        });
        let shown: Vec<String> =
            lines.map(|line| renderer.line(&line)).filter(|text| !text.is_empty()).collect();
        let shown = shown.join("\n").lines().map(|line| &line[9..]).collect::<Vec<_>>().join("\n");
        assert_eq!(shown, expected);
    }

    #[test]
    fn claude_is_shown_as_words_and_tools() {
        check(
            &[
                r#"{"type":"system","subtype":"init","session_id":"x"}"#,
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look first."},{"type":"tool_use","name":"Bash","input":{"command":"cargo test\n--all","description":"d"}}]}}"#,
                r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"exit 1"}]}}"#,
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
                r#"{"type":"result","is_error":false,"result":"Done."}"#,
            ],
            "I look first.\n▸ Bash: cargo test …\n  ✗ exit 1\nDone.",
        );
    }

    #[test]
    fn codex_opencode_and_gemini_are_too() {
        check(
            &[
                r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#,
                r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls","exit_code":0}}"#,
                r#"{"type":"item.completed","item":{"type":"agent_message","text":"There."}}"#,
                r#"{"type":"turn.failed","error":{"message":"no quota"}}"#,
                r#"{"type":"text","part":{"type":"text","text":"hello"}}"#,
                r#"{"type":"tool_use","part":{"type":"tool","tool":"bash","state":{"input":{"command":"pwd"}}}}"#,
                r#"{"type":"message","role":"assistant","content":"hi"}"#,
            ],
            "▸ sh: ls\nThere.\n✗ no quota\nhello\n▸ bash: pwd\nhi",
        );
    }

    #[test]
    fn what_is_not_understood_is_shown_and_moves_no_cursor() {
        check(&["plain words", "\u{1b}[2Jx", "{not json"], "plain words\n\\u{1b}[2Jx\n{not json");
    }

    #[test]
    fn a_line_of_a_hundred_megabytes_costs_one() {
        let mut renderer = Renderer::new(false);
        let piece =
            Line { n: 1, ts: Timestamp::ZERO, stream: Stream::Out, text: "x".repeat(65536), more: true };
        for _ in 0..1600 {
            assert_eq!(renderer.line(&piece), "");
            assert!(renderer.begun.len() <= JOINED_MAX + 65536);
        }
        let last = renderer.line(&Line { more: false, ..piece });
        assert!(last.len() < 400 && last.ends_with('…'), "{}", last.len());
    }
}
