//! What agent programs print, in words: most print JSON, one object a line, and each in its own way. What is
//! understood becomes a short line; what is not is given as it is.

use serde_json::Value;

use crate::journal::{Line, Stream};

/// Enough of a line to know what it is about.
const SHOWN: usize = 240;
/// A printed line longer than this is no message that anybody could read.
const JOINED_MAX: usize = 1 << 20;
/// Lines of one message that are shown.
const LINES_MAX: usize = 40;

/// What a line is, for its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Text,
    /// A tool was called.
    Tool,
    Failed,
    ToolFailed,
    Stderr,
    /// Said by the daemon itself.
    Swarm,
}

/// One line for people. It may hold anything that a program can print: whoever shows it makes it harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub tone: Tone,
    pub text: String,
}

fn say(tone: Tone, text: String) -> Said {
    Said { tone, text }
}

#[derive(Debug, Default)]
pub struct Reader {
    /// The beginning of a line that was too long for one entry of the journal.
    begun: String,
    /// The last thing that was said, so that a summary at the end does not say it again.
    said: String,
}

impl Reader {
    /// The lines for one entry; none for what nobody needs to read.
    pub fn line(&mut self, line: &Line) -> Vec<Said> {
        let mut text = std::mem::take(&mut self.begun);
        if text.len() < JOINED_MAX {
            text.push_str(&line.text);
        }
        if line.more {
            self.begun = text;
            return vec![];
        }
        match line.stream {
            Stream::Swarm => {
                // A new iteration may end with the words of the last one.
                self.said.clear();
                vec![say(Tone::Swarm, short(&text))]
            }
            Stream::Err => vec![say(Tone::Stderr, short(&text))],
            Stream::Out => self.out(&text),
        }
    }

    /// What was begun and never ended.
    pub fn rest(&mut self) -> String {
        short(&std::mem::take(&mut self.begun))
    }

    fn out(&mut self, text: &str) -> Vec<Said> {
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => {
                let mut said = Vec::new();
                self.object(&value, &mut said);
                said
            }
            _ => vec![say(Tone::Text, short(text))],
        }
    }

    /// Goes through the shapes that the known programs use.
    fn object(&mut self, value: &Value, said: &mut Vec<Said>) {
        let kind = value["type"].as_str().or(value["method"].as_str()).unwrap_or_default();
        for part in parts(value) {
            self.part(part, said);
        }
        let failed = value["is_error"] == true || kind == "error" || kind.ends_with(".failed");
        if let Some(text) = error_text(value).filter(|_| failed || value["error"].is_object()) {
            said.push(say(Tone::Failed, short(&text)));
        } else if kind == "result"
            && let Some(text) = value["result"].as_str()
        {
            self.says(text, said);
        }
        if let Some(text) = value["params"]["update"]["content"]["text"].as_str() {
            self.says(text, said);
        }
    }

    fn part(&mut self, part: &Value, said: &mut Vec<Said>) {
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
                said.push(say(Tone::ToolFailed, short(&text)));
            }
            "message" if part["role"] == "assistant" => {
                if let Some(text) = part["content"].as_str() {
                    self.says(text, said);
                }
            }
            _ => {}
        }
    }

    fn tool(&self, name: &str, input: Option<&Value>, said: &mut Vec<Said>) {
        let what = input.map(essence).unwrap_or_default();
        let line = if what.is_empty() { name.to_owned() } else { format!("{name}: {what}") };
        said.push(say(Tone::Tool, short(&line)));
    }

    fn says(&mut self, text: &str, said: &mut Vec<Said>) {
        let text = text.trim();
        if text.is_empty() || self.said == text {
            return;
        }
        self.said = text.to_owned();
        said.extend(text.lines().take(LINES_MAX).map(|line| say(Tone::Text, short(line))));
        let more = text.lines().count().saturating_sub(LINES_MAX);
        if more > 0 {
            said.push(say(Tone::Text, format!("… {more} more lines")));
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
    let line = &line[..cut.unwrap_or(line.len())];
    if more { format!("{line} …") } else { line.to_owned() }
}
