//! A plan as a file again: JSON for tools, a checklist for people. Reading it gives the same plan.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::checklist::NOTES;
use super::fields::{JSON, LINES, LISTS, WORDS, field, meant, survives_as_paragraph};
use super::shapes::{depends_at_end, item, own_id};
use crate::plan::{PhaseFile, PlanFile, Status, TaskFile};

/// The plan as JSON, indented, with a newline at its end.
pub fn to_json(plan: &PlanFile) -> String {
    let mut text = serde_json::to_string_pretty(plan).expect("a plan is plain data");
    text.push('\n');
    text
}

/// The plan as a checklist. `pending` is not written: an open box says it.
pub fn to_markdown(plan: &PlanFile) -> String {
    let mut out = String::new();
    let mut members: Map<String, Value> = plan.extra.clone().into_iter().collect();
    if let Some(profile) = &plan.execution_profile {
        members.insert("execution_profile".into(), serde_json::to_value(profile).expect("plain data"));
    }
    heading(&mut out, "# ", &plan.goal, "goal", members);
    for phase in &plan.phases {
        let PhaseFile { id, name, tasks, extra } = phase;
        out.push('\n');
        let prefix = if name.is_empty() { format!("## Phase {id}") } else { format!("## Phase {id}: ") };
        heading(&mut out, &prefix, name, "name", extra.clone().into_iter().collect());
        if !tasks.is_empty() {
            out.push('\n');
        }
        tasks.iter().for_each(|task| write_task(&mut out, task));
    }
    out
}

fn heading(out: &mut String, prefix: &str, text: &str, member: &str, mut members: Map<String, Value>) {
    if !is_plain(text) && !text.is_empty() {
        members.insert(member.into(), text.into());
    }
    let _ = writeln!(out, "{prefix}{}", one_line(text));
    let notes = match members.remove(NOTES) {
        Some(Value::String(notes))
            if survives_as_paragraph(&notes) && !notes.contains("```") && !notes.contains("~~~") =>
        {
            notes
        }
        Some(other) => {
            members.insert(NOTES.into(), other);
            String::new()
        }
        None => String::new(),
    };
    if !members.is_empty() {
        let _ = writeln!(out, "<!-- swarm {} -->", Value::Object(members));
    }
    if !notes.is_empty() {
        out.push('\n');
        for line in notes.lines() {
            let structure =
                line.starts_with(['#', '\\']) || line.starts_with("<!-- swarm ") || item(line).is_some();
            let _ = writeln!(out, "{}{line}", if structure { "\\" } else { "" });
        }
    }
}

fn write_task(out: &mut String, task: &TaskFile) {
    let Value::Object(mut members) = serde_json::to_value(task).expect("a task is plain data") else {
        return;
    };
    members.remove("id");
    let done = task.status == Some(Status::Done);
    if done || task.status == Some(Status::Pending) {
        members.remove("status");
    }
    // What reading would take out of a title stands in the members as well.
    let title = if depends_at_end(&task.title).is_some() { "" } else { task.title.as_str() };
    if is_plain(title) {
        members.remove("title");
    }
    let mark = if done { 'x' } else { ' ' };
    let colon = if own_id(task.id.as_str()).is_some() { "" } else { ":" };
    let shown = one_line(&task.title);
    let mut shown = shown.as_str();
    while let Some((words, _)) = depends_at_end(shown) {
        shown = words;
    }
    let _ = writeln!(out, "- [{mark}] {}{colon} {shown}", task.id);
    write_description(out, &mut members);
    for name in WORDS.iter().chain(&LISTS).chain([&LINES]) {
        write_field(out, name, &mut members);
    }
    if !members.is_empty() {
        let _ = writeln!(out, "  {JSON}: {}", Value::Object(members));
    }
}

fn write_description(out: &mut String, members: &mut Map<String, Value>) {
    let Some(Value::String(text)) = members.get("description") else { return };
    if !survives_as_paragraph(text) {
        return;
    }
    for (at, line) in text.lines().enumerate() {
        let is_field = field(line).is_some() || meant(line).is_some();
        let guarded = line.starts_with('\\') || is_field || (at == 0 && line.starts_with([' ', '\t']));
        let line = if guarded { format!("  \\{line}") } else { format!("  {line}") };
        let _ = writeln!(out, "{}", if line.trim().is_empty() { "" } else { &line });
    }
    members.remove("description");
}

fn write_field(out: &mut String, name: &str, members: &mut Map<String, Value>) {
    let plain = |value: &Value| value.as_str().is_some_and(is_plain);
    let written = match members.get(name) {
        Some(Value::Array(values)) if values.iter().all(plain) => {
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            if name == LINES {
                for value in values {
                    let _ = writeln!(out, "  {name}: {value}");
                }
                true
            } else if values.iter().any(|value| value.contains(',')) {
                false
            } else {
                let _ = writeln!(out, "  {name}: {}", values.join(", "));
                true
            }
        }
        Some(Value::Bool(given)) => {
            let _ = writeln!(out, "  {name}: {given}");
            true
        }
        Some(Value::Number(number)) => {
            let _ = writeln!(out, "  {name}: {number}");
            true
        }
        Some(Value::String(text)) if is_plain(text) => {
            let _ = writeln!(out, "  {name}: {text}");
            true
        }
        _ => false,
    };
    if written {
        members.remove(name);
    }
}

/// One line, with nothing at its ends that reading would trim.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['\n', '\r'])
}

/// The text itself, or what of it fits into a heading when the whole stands in the members.
fn one_line(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { text.split_whitespace().collect::<Vec<_>>().join(" ") }
}
