//! What an operation changes, or would change, in lines for people: only what differs, each thing once.

use std::collections::BTreeSet;

use serde_json::Value;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Fact, FactChange, SavedStage, TaskPart};

use crate::operation::facts;

/// Tasks named in one line; `--json` has them all.
const NAMED_MAX: usize = 12;

/// The changes of these facts. A task that comes or goes is said once, not part by part.
pub fn changes(all: &[FactChange]) -> Vec<String> {
    let whole = |c: &FactChange| c.fact.task().filter(|_| c.fact.part().is_none()).cloned();
    let came = |c: &&FactChange| c.before.is_none() && c.after.is_some();
    let went = |c: &&FactChange| c.before.is_some() && c.after.is_none();
    let added: Vec<TaskId> = all.iter().filter(came).filter_map(whole).collect();
    let removed: Vec<TaskId> = all.iter().filter(went).filter_map(whole).collect();
    let mut lines = Vec::new();
    lines.extend(listed("added to the plan", &added));
    lines.extend(listed("removed from the plan", &removed));
    let about: BTreeSet<&TaskId> = added.iter().chain(&removed).collect();
    let rest = all.iter().filter(|c| c.fact.task().is_none_or(|id| !about.contains(id)));
    lines.extend(rest.flat_map(one));
    lines
}

fn listed(what: &str, ids: &[TaskId]) -> Option<String> {
    let named: Vec<&str> = ids.iter().take(NAMED_MAX).map(TaskId::as_str).collect();
    let more = match ids.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match named.as_slice() {
        [] => None,
        [only] => Some(format!("task {only} is {what}")),
        _ => Some(format!("tasks {}{more} are {what}", named.join(", "))),
    }
}

fn one(change: &FactChange) -> Vec<String> {
    let FactChange { fact, before, after } = change;
    if before == after {
        return vec![];
    }
    match fact {
        Fact::Part(id, part) => of_task(id, *part, before.as_ref(), after.as_ref()),
        Fact::Header => header(before.as_ref(), after.as_ref()),
        Fact::Profile => members("the execution profile", before.as_ref(), after.as_ref()),
        _ => vec![plain(change)],
    }
}

/// How it was, and how it is then.
fn plain(change: &FactChange) -> String {
    let was = facts::describe(&change.fact, change.before.as_ref());
    let is = facts::describe(&change.fact, change.after.as_ref());
    if was == is { is } else { format!("{was} → {is}") }
}

fn of_task(id: &TaskId, part: TaskPart, before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    match part {
        TaskPart::Stage => stage(id, before, after).into_iter().collect(),
        TaskPart::Spec => members(&format!("task {id}"), before, after),
        TaskPart::Place => place(id, before, after).into_iter().collect(),
        TaskPart::Waived => waived(id, before, after),
        TaskPart::Base => vec![format!("the branch of task {id} starts at another commit")],
        TaskPart::Left if after.is_some() => {
            vec![format!("the worktree of task {id} comes back as it was left")]
        }
        // What waited to come back is there, or is not waited for any more: the stage says it.
        TaskPart::Left => vec![],
        TaskPart::Rounds => {
            let n = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or_default();
            vec![format!("task {id}: rounds of review {} → {}", n(before), n(after))]
        }
    }
}

fn stage(id: &TaskId, before: Option<&Value>, after: Option<&Value>) -> Option<String> {
    let read = |value: Option<&Value>| serde_json::from_value::<SavedStage>(value?.clone()).ok();
    match (read(before), read(after)) {
        (Some(SavedStage::Pending { .. }), Some(SavedStage::Pending { started: true, .. })) => {
            Some(format!("task {id} may start"))
        }
        (Some(SavedStage::Pending { .. }), Some(SavedStage::Pending { started: false, .. })) => {
            Some(format!("task {id} waits for a start"))
        }
        (Some(was), Some(is)) if was.word() == is.word() => {
            Some(format!("task {id} stays {}, for another reason or at another commit", is.word()))
        }
        (Some(was), Some(is)) => Some(format!("task {id}: {} → {}", was.word(), is.word())),
        (None, Some(is)) => Some(format!("task {id} {}", is.sentence())),
        (_, None) => None,
    }
}

/// Members whose values differ, by name.
fn members(what: &str, before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    let empty = serde_json::Map::new();
    let object = |value: Option<&Value>| value.and_then(Value::as_object).unwrap_or(&empty).clone();
    let (before, after) = (object(before), object(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |name: &&&String| before.get(**name) != after.get(**name);
    let line = |name: &String| {
        let value = |object: &serde_json::Map<String, Value>| object.get(name).map_or("none".into(), short);
        format!("{what}: {name} {} → {}", value(&before), value(&after))
    };
    names.iter().filter(differs).map(|name| line(name)).collect()
}

/// Bytes of a value that fit into a line.
const VALUE_MAX: usize = 60;

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn place(id: &TaskId, before: Option<&Value>, after: Option<&Value>) -> Option<String> {
    let (before, after) = (before?, after?);
    if before["phase"] == after["phase"] && before["after"] == after["after"] {
        return None; // ranks were dealt anew; it stands where it stood
    }
    let spot = |value: &Value| match value["after"].as_str() {
        Some(other) => format!("behind {other} in phase {}", value["phase"]),
        None => format!("first in phase {}", value["phase"]),
    };
    Some(format!("task {id} moves: {} → {}", spot(before), spot(after)))
}

fn waived(id: &TaskId, before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    let gates = |value: Option<&Value>| -> BTreeSet<String> {
        let all = value.and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|gate| gate.as_str().map(str::to_owned)).collect()
    };
    let (before, after) = (gates(before), gates(after));
    let now = after.difference(&before).map(|gate| format!("the {gate} of task {id} is waived"));
    let again = before.difference(&after).map(|gate| format!("the {gate} of task {id} is asked for again"));
    now.chain(again).collect()
}

fn header(before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    let (Some(before), Some(after)) = (before, after) else {
        return vec![if after.is_some() { "the plan begins".into() } else { "the plan goes".into() }];
    };
    let mut lines = Vec::new();
    if before["goal"] != after["goal"] {
        lines.push(format!("the goal: {} → {}", short(&before["goal"]), short(&after["goal"])));
    }
    if before["phases"] != after["phases"] {
        lines.extend(phases(&before["phases"], &after["phases"]));
    }
    if before["extra"] != after["extra"] {
        lines.push("further members of the plan change".into());
    }
    lines
}

fn phases(before: &Value, after: &Value) -> Vec<String> {
    let of = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (before, after) = (of(before), of(after));
    let find = |all: &[Value], id: &Value| all.iter().find(|phase| phase["id"] == *id).cloned();
    let came = after.iter().filter(|p| find(&before, &p["id"]).is_none());
    let went = before.iter().filter(|p| find(&after, &p["id"]).is_none());
    let mut lines: Vec<String> = came.map(|p| format!("phase {} is added", p["id"])).collect();
    lines.extend(went.map(|p| format!("phase {} goes", p["id"])));
    for phase in &after {
        match find(&before, &phase["id"]) {
            Some(old) if old["name"] != phase["name"] => {
                let (was, is) = (short(&old["name"]), short(&phase["name"]));
                lines.push(format!("phase {}: name {was} → {is}", phase["id"]));
            }
            Some(old) if old["extra"] != phase["extra"] => {
                lines.push(format!("further members of phase {} change", phase["id"]));
            }
            _ => {}
        }
    }
    if lines.is_empty() {
        lines.push("the order of the phases changes".into());
    }
    lines
}
