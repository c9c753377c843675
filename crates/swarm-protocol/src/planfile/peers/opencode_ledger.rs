//! `.swarm/plan-ledger.jsonl` of opencode-swarm. Some of its events hold the whole plan; what came after the newest
//! of them is applied to it.

use serde_json::{Map, Value};

use super::{Care, Imported, listed, opencode};
use crate::planfile::error::PlanFileError;

const INSTEAD: &str = "Import the plan beside it: `swarm plan import .swarm/plan.json`, or its plan.md where that is all there is";

/// Told by its first line.
pub(super) fn is_one(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    event(first).is_some_and(|event| event.contains_key("event_type") && event.contains_key("plan_id"))
}

fn event(line: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(line).ok()
}

pub(super) fn read(name: &str, text: &str, care: Care) -> Result<Imported, PlanFileError> {
    let mut plan: Option<Value> = None;
    let mut untold = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Some(mut event) = event(line) else {
            let why = "this is no event of the ledger of opencode-swarm";
            return Err(PlanFileError::at(name, at + 1, why, INSTEAD));
        };
        let whole = event.get_mut("payload").and_then(|payload| payload.get_mut("plan")).map(Value::take);
        if let Some(whole) = whole.filter(Value::is_object) {
            (plan, untold) = (Some(whole), Vec::new());
            continue;
        }
        let word = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        match word("event_type") {
            "plan_reset" => (plan, untold) = (None, Vec::new()),
            "task_status_changed" => set_status(plan.as_mut(), word("task_id"), word("to_status")),
            "task_removed" => remove(plan.as_mut(), word("task_id")),
            "phase_completed" => complete(plan.as_mut(), event.get("phase_id")),
            "plan_created" | "plan_exported" | "snapshot" => {}
            // That the plan changed is told, how is not; and what nobody knows may be a change.
            kind => untold.push(format!("{} at line {}", kind.escape_debug(), at + 1)),
        }
    }
    let Some(plan) = plan else {
        let why = "it is the ledger of opencode-swarm, and no event in it holds the plan";
        return Err(PlanFileError::whole(name, why, INSTEAD));
    };
    if care == Care::Strict && !untold.is_empty() {
        let why = format!("it does not say what changed: {}", listed(&untold));
        return Err(PlanFileError::whole(name, why, INSTEAD));
    }
    // Lines of the plan inside an event would be nobody's lines.
    let mut imported = opencode::read(name, &plan.to_string(), care)
        .map_err(|error| PlanFileError { line: None, ..error })?;
    imported
        .notes
        .push("Read from the ledger of opencode-swarm, as its newest whole plan and what followed".into());
    if !untold.is_empty() {
        let what = "Changes that the ledger names but does not hold; .swarm/plan.json has them";
        imported.notes.push(format!("{what}: {}", listed(&untold)));
    }
    Ok(imported)
}

fn phases(plan: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    plan.and_then(|plan| plan.get_mut("phases")).and_then(Value::as_array_mut).into_iter().flatten()
}

fn tasks(phase: &mut Value) -> Option<&mut Vec<Value>> {
    phase.get_mut("tasks")?.as_array_mut()
}

fn is(task: &Value, id: &str) -> bool {
    task.get("id").and_then(Value::as_str) == Some(id)
}

fn set_status(plan: Option<&mut Value>, id: &str, status: &str) {
    let all = phases(plan).filter_map(tasks).flatten();
    for task in all.filter(|task| is(task, id)).filter_map(Value::as_object_mut) {
        task.insert("status".into(), status.into());
    }
}

fn remove(plan: Option<&mut Value>, id: &str) {
    phases(plan).filter_map(tasks).for_each(|tasks| tasks.retain(|task| !is(task, id)));
}

fn complete(plan: Option<&mut Value>, phase: Option<&Value>) {
    for found in phases(plan).filter(|found| phase.is_some() && found.get("id") == phase) {
        found["status"] = "complete".into();
    }
}
