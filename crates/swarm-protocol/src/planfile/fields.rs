//! The indented lines below a task of a checklist: `name: value` fields, and a description.
//!
//! What a plain line cannot hold (a comma inside a file name, a text that ends in blank lines,
//! members we do not know) stands in one `json:` line, so that nothing is lost on the way.

use serde_json::{Map, Value};

use super::error::PlanFileError;
use crate::ids::TaskId;
use crate::near::distance;
use crate::review::{check_isolation, check_reviewer};

/// Values that are lists, separated by commas.
pub(super) const LISTS: [&str; 5] = ["depends", "files", "reserve", "share", "tags"];
/// One value each.
pub(super) const WORDS: [&str; 7] =
    ["size", "priority", "profile", "isolation", "review", "allow_empty", "status"];
/// A line each.
pub(super) const LINES: &str = "acceptance";
/// Everything else.
pub(super) const JSON: &str = "json";

/// The field in a line without its indentation; a bullet before it is fine.
pub(super) fn field(line: &str) -> Option<(&'static str, &str)> {
    let line = line.strip_prefix("- ").unwrap_or(line);
    let (name, value) = line.split_once(':')?;
    let known = LISTS.iter().chain(&WORDS).chain([&LINES, &JSON]).find(|known| **known == name)?;
    Some((known, value.trim()))
}

/// The field that was probably meant by a line that names none: one that is misspelt would be taken for a part of the
/// description, and what it asks for would not happen.
pub(super) fn meant(line: &str) -> Option<(&'static str, &str)> {
    let line = line.strip_prefix("- ").unwrap_or(line);
    let (typed, _) = line.split_once(':')?;
    let is_word = typed.len() >= 4 && typed.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let all = LISTS.iter().chain(&WORDS).chain([&LINES]);
    let near = |name: &&&'static str| distance(typed, name) <= if typed.len() > 4 { 2 } else { 1 };
    all.filter(|_| is_word).filter(near).min_by_key(|name| distance(typed, name)).map(|name| (*name, typed))
}

/// Reads the lines below an item into the members of its task.
pub(super) fn read(
    file: &str,
    lines: &[(usize, &str)],
    members: &mut Map<String, Value>,
) -> Result<(), PlanFileError> {
    let indent =
        lines.iter().find(|(_, line)| !line.trim().is_empty()).map_or(0, |(_, line)| indent_of(line));
    let fences = lines.iter().filter(|(_, line)| is_fence(line)).count();
    let mut text = Vec::new();
    let mut seen = 0;
    for (number, line) in lines {
        let line = &line[indent_of(line).min(indent)..];
        seen += usize::from(is_fence(line));
        let in_code = seen % 2 == 1;
        // A block that is never closed has not swallowed the fields below it.
        let in_block = in_code && seen < fences;
        match (field(line).filter(|_| !in_block), meant(line).filter(|_| !in_code)) {
            (Some((name, value)), _) => set(file, *number, name, value, members)?,
            (None, Some((name, typed))) => {
                let why = format!("{typed:?} is not a field");
                let hint =
                    format!("Write `{name}:`, or begin the line with \\ if it belongs to the description");
                return Err(PlanFileError::at(file, *number, why, &hint));
            }
            (None, None) => text.push(line.strip_prefix('\\').unwrap_or(line)),
        }
    }
    let description = paragraph(&text);
    if !description.is_empty() {
        members.insert("description".into(), description.into());
    }
    Ok(())
}

fn set(
    file: &str,
    line: usize,
    name: &'static str,
    value: &str,
    members: &mut Map<String, Value>,
) -> Result<(), PlanFileError> {
    let bad = |why: String, hint: &str| Err(PlanFileError::at(file, line, why, hint));
    if name == JSON {
        return match serde_json::from_str::<Map<String, Value>>(value) {
            Ok(more) => {
                members.extend(more);
                Ok(())
            }
            Err(error) => bad(
                format!("the members after json: are not JSON: {error}"),
                "Write them as {\"name\": value}",
            ),
        };
    }
    if value.is_empty() {
        return Ok(());
    }
    if WORDS.contains(&name) {
        let value = match (name, value.parse::<u8>(), value.parse::<bool>()) {
            ("priority", Ok(number), _) => Value::from(number),
            ("priority", Err(_), _) => {
                return bad(format!("{value:?} is not a priority"), "0 is the most urgent, 4 the least");
            }
            ("allow_empty", _, Ok(allowed)) => Value::from(allowed),
            ("allow_empty", _, Err(_)) => {
                return bad(format!("{value:?} is neither true nor false"), "Write `allow_empty: true`");
            }
            ("review" | "isolation", ..) => {
                let check = if name == "review" { check_reviewer } else { check_isolation };
                if let Err(why) = check(value) {
                    return bad(why, "`swarm help task edit` says what each of them does");
                }
                value.into()
            }
            _ => value.into(),
        };
        members.insert(name.into(), value);
        return Ok(());
    }
    let values: Vec<&str> = if name == LINES {
        vec![value]
    } else {
        value.split(',').map(str::trim).filter(|v| !v.is_empty()).collect()
    };
    if name == "depends" {
        for id in &values {
            if let Err(error) = TaskId::new(id) {
                return bad(
                    error.to_string(),
                    "List the ids of tasks, with commas between: `depends: 1.1, 1.2`",
                );
            }
        }
    }
    if let Value::Array(list) = members.entry(name).or_insert_with(|| Value::Array(vec![])) {
        list.extend(values.into_iter().map(Value::from));
    }
    Ok(())
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Lines as one text, without blank ones at its ends.
pub(super) fn paragraph(lines: &[&str]) -> String {
    let blank = |line: &&str| line.trim().is_empty();
    let start = lines.iter().position(|line| !blank(line)).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !blank(line)).map_or(start, |last| last + 1);
    let shown: Vec<&str> =
        lines[start..end].iter().map(|line| if blank(line) { "" } else { *line }).collect();
    shown.join("\n")
}

/// Whether [`paragraph`] gives this text back.
pub(super) fn survives_as_paragraph(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    !text.is_empty() && !text.contains('\r') && paragraph(&lines) == text
}
