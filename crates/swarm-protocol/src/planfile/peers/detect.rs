//! Whose plan a text is. By content, because what comes from a pipe has no name; the name only decides where the
//! content would fit two tools, or is too broken to say anything.

use serde_json::{Map, Value};

use super::{Source, opencode_ledger, opencode_text};
use crate::planfile::read::{Format, format_of};

pub(super) fn source_of(name: &str, text: &str) -> Source {
    if format_of(text) == Format::Markdown {
        let theirs = opencode_text::looks_like_one(text);
        return if theirs { Source::OpencodeSwarm } else { Source::Markdown };
    }
    if opencode_ledger::is_one(text) {
        return Source::OpencodeSwarm;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) if is_issue(&members) => issues_of(name, text),
        Ok(Value::Object(members)) if is_opencode(&members) => Source::OpencodeSwarm,
        Ok(_) => Source::Json,
        Err(_) if is_lines(name, text) => issues_of(name, text),
        // Cut off or misspelt: the names of its members are still to be seen.
        Err(_) if looks_like_opencode(text) => Source::OpencodeSwarm,
        Err(_) => Source::Json,
    }
}

fn is_issue(members: &Map<String, Value>) -> bool {
    let plan = ["phases", "goal"].iter().any(|key| members.contains_key(*key));
    let issue = ["issue_type", "status", "priority"].iter().any(|key| members.contains_key(*key));
    !plan && issue && members.contains_key("id") && members.contains_key("title")
}

fn is_opencode(members: &Map<String, Value>) -> bool {
    let theirs = members.contains_key("schema_version") || members.contains_key("swarm");
    members.contains_key("phases") && !members.contains_key("goal") && theirs
}

fn looks_like_opencode(text: &str) -> bool {
    text.contains("\"schema_version\"") && text.contains("\"phases\"") && !text.contains("\"goal\"")
}

/// One object per line: told by the first line that is one, or by the name.
fn is_lines(name: &str, text: &str) -> bool {
    let named = name.ends_with(".jsonl") || name.ends_with(".ndjson");
    named || text.lines().filter_map(object).take(1).any(|members| is_issue(&members))
}

fn object(line: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(line).ok()
}

/// Beads and hive write nearly the same. A parent by `parent_id` is hive's, a dependency that names both ends beads'.
fn issues_of(name: &str, text: &str) -> Source {
    for members in text.lines().filter_map(object) {
        if members.contains_key("parent_id") {
            return Source::Hive;
        }
        let ends = |entry: &Value| entry.get("issue_id").is_some();
        if members.get("dependencies").and_then(Value::as_array).is_some_and(|list| list.iter().any(ends)) {
            return Source::Beads;
        }
    }
    if name.split(['/', '\\']).any(|part| part == ".hive") { Source::Hive } else { Source::Beads }
}
