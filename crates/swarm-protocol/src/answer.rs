//! What agents answer that were asked one question: JSON at the end of their last message.

use serde_json::{Deserializer, Value};

/// Bytes of an answer that are read.
pub const ANSWER_MAX: usize = 256 * 1024;

/// The object that the text ends with, whatever stands around it: agents like to explain, and to fence.
pub fn last_object(answer: &str) -> Result<Value, String> {
    if answer.len() > ANSWER_MAX {
        return Err(format!("the answer is longer than {ANSWER_MAX} bytes"));
    }
    let mut rest = answer;
    let mut found = None;
    while let Some(at) = rest.find('{') {
        let mut values = Deserializer::from_str(&rest[at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                rest = &rest[at + values.byte_offset()..];
                found = Some(value);
            }
            _ => rest = &rest[at + 1..],
        }
    }
    let found = found.ok_or("the answer holds no JSON object")?;
    // Whoever quotes an object and then says something about it has not answered with it.
    if rest.lines().any(|line| !may_follow(line.trim())) {
        return Err("the answer does not end with its JSON object".into());
    }
    Ok(found)
}

/// The end of a fence, or a signal.
fn may_follow(line: &str) -> bool {
    line.chars().all(|c| c == '`') || (line.starts_with("<swarm>") && line.ends_with("</swarm>"))
}
