//! Results: the same facts as JSON and as text, with a sentence, and never longer than a client takes.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use swarm_protocol::api::ApiError;

use crate::limits::RESULT_MAX;
use crate::refused::{Asked, refusal};

/// Shortest list that is still cut; shorter ones are what somebody asked for.
const KEEP: usize = 3;

/// Text that is cut off in the middle is still readable; so much of it always stays.
const TEXT_KEEP: usize = 400;

/// Bytes of rows or of a patch in one result. The sentence and the other members have the rest.
const PAGE_BYTES: usize = RESULT_MAX - 1_000;

/// How many of these rows go into one result, from the first on and at least one. A page ends before the row that does
/// not fit, so that its cursor names it: what is cut off a result is behind the cursor, and nobody would see it.
pub fn fitting(rows: &[Value]) -> usize {
    let mut bytes = 0;
    let fits = |row: &&Value| {
        bytes += row.to_string().len() + 1;
        bytes <= PAGE_BYTES
    };
    rows.iter().take_while(fits).count().max(1)
}

/// Whether this piece of a text goes into one result, with everything in it that has to be escaped.
pub fn fits(piece: &str) -> bool {
    Value::from(piece).to_string().len() <= PAGE_BYTES
}

pub fn success(text: &str, mut facts: Map<String, Value>) -> CallToolResult {
    facts.insert("text".into(), text.into());
    let value = fit(Value::Object(facts), RESULT_MAX);
    let mut result = CallToolResult::structured(value.clone());
    result.content = vec![ContentBlock::text(as_text(text, &value))];
    result
}

pub fn refused(error: &ApiError, asked: &Asked<'_>) -> CallToolResult {
    let value = fit(refusal(error, asked), RESULT_MAX);
    let text = value["text"].as_str().unwrap_or_default().to_owned();
    let mut result = CallToolResult::structured_error(value.clone());
    result.content = vec![ContentBlock::text(as_text(&text, &value))];
    result
}

/// The sentence, then the facts: some clients show only one of the two members.
fn as_text(text: &str, value: &Value) -> String {
    let mut facts = value.clone();
    if let Some(members) = facts.as_object_mut() {
        members.remove("text");
        if members.is_empty() {
            return text.to_owned();
        }
    }
    format!("{text}\n{facts}")
}

/// Shortens the longest list or text, again and again, until all of it fits; `cut` says what was shortened.
pub fn fit(mut value: Value, max: usize) -> Value {
    let mut cuts: Vec<String> = Vec::new();
    while value.to_string().len() > max {
        let mut longest = Longest::default();
        longest.look(&value, "");
        let Some(path) = longest.path else { break };
        let Some(place) = value.pointer_mut(&path) else { break };
        let name = path.trim_start_matches('/').replace('/', ".");
        let said = shorten(place, &name);
        cuts.retain(|cut| !cut.starts_with(&format!("{name}: ")));
        cuts.push(said);
    }
    if let (false, Some(members)) = (cuts.is_empty(), value.as_object_mut()) {
        members.insert("cut".into(), json!(cuts));
    }
    value
}

fn shorten(place: &mut Value, name: &str) -> String {
    match place {
        Value::Array(values) => {
            values.truncate((values.len() / 2).max(KEEP));
            format!("{name}: the first {}", values.len())
        }
        Value::String(text) => {
            let mut end = (text.len() / 2).max(TEXT_KEEP);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            format!("{name}: the first {end} bytes")
        }
        _ => format!("{name}: nothing"),
    }
}

/// What takes the most place and may be shortened.
#[derive(Default)]
struct Longest {
    size: usize,
    path: Option<String>,
}

impl Longest {
    fn look(&mut self, value: &Value, path: &str) {
        match value {
            Value::Array(values) => {
                if values.len() > KEEP {
                    self.take(value.to_string().len(), path);
                }
                for (at, value) in values.iter().enumerate() {
                    self.look(value, &format!("{path}/{at}"));
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.look(value, &format!("{path}/{name}"));
                }
            }
            Value::String(text) if text.len() > TEXT_KEEP => self.take(text.len(), path),
            _ => {}
        }
    }

    fn take(&mut self, size: usize, path: &str) {
        if size > self.size {
            (self.size, self.path) = (size, Some(path.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        let rows: Vec<Value> = (0..1000).map(|at| json!({ "id": at, "title": "x".repeat(40) })).collect();
        let fitted = fit(json!({ "seq": 7, "tasks": rows }), 5_000);
        assert!(fitted.to_string().len() <= 5_100, "{}", fitted.to_string().len());
        assert_eq!(fitted["seq"], 7);
        let kept = fitted["tasks"].as_array().map_or(0, Vec::len);
        assert!(kept > 10, "{kept}");
        assert_eq!(fitted["cut"], json!([format!("tasks: the first {kept}")]));
    }

    #[test]
    fn a_long_text_is_cut_between_two_letters() {
        let fitted = fit(json!({ "patch": "ä".repeat(50_000) }), 2_000);
        let patch = fitted["patch"].as_str().unwrap_or_default();
        assert!(patch.chars().all(|letter| letter == 'ä') && patch.len() > 100, "{patch}");
    }

    #[test]
    fn a_page_ends_before_the_row_that_would_be_cut_off() {
        let rows: Vec<Value> = (0..200).map(|at| json!({ "id": at, "title": "x".repeat(300) })).collect();
        let count = fitting(&rows);
        assert!((30..200).contains(&count), "{count}");
        let page =
            json!({ "seq": 7, "next": 7, "text": "some of 200 tasks", "tasks": rows[..count].to_vec() });
        assert_eq!(fit(page.clone(), RESULT_MAX), page);
        assert_eq!((fitting(&rows[..3]), fitting(&[json!("x".repeat(RESULT_MAX))])), (3, 1));
        assert!(fits(&"x".repeat(RESULT_MAX / 2)) && !fits(&"\u{1b}".repeat(RESULT_MAX / 2)));
    }

    #[test]
    fn what_fits_is_left_alone() {
        let value = json!({ "tasks": [1, 2, 3], "text": "short" });
        assert_eq!(fit(value.clone(), 1_000), value);
    }
}
