//! Reading the events of programs: what is not there, or is something else, is nothing.

use serde_json::Value;

/// A line that is one JSON object. Anything else that a program prints is no event.
pub fn event(line: &str) -> Option<Value> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    serde_json::from_str(line).ok().filter(Value::is_object)
}

/// The member, or null.
pub fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    field(value, name).as_str()
}

pub fn number(value: &Value, name: &str) -> Option<u64> {
    field(value, name).as_u64()
}

pub fn count(value: &Value, name: &str) -> u64 {
    number(value, name).unwrap_or_default()
}

/// What a program counts is not believed so far that its sum goes round.
pub fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

pub fn truth(value: &Value, name: &str) -> bool {
    field(value, name).as_bool().unwrap_or_default()
}

pub fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    field(value, name).as_array().map_or(&[], Vec::as_slice)
}

/// Dollars as millionths of one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
pub fn micros(dollars: f64) -> u64 {
    if dollars.is_finite() && dollars > 0.0 { (dollars.min(1e9) * 1e6).round() as u64 } else { 0 }
}
