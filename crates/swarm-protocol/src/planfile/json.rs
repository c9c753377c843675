//! The JSON form: strict where a slip would lose something, keeping what it does not know.

use std::collections::BTreeSet;

use serde_json::Value;

use super::error::PlanFileError;
use crate::ids::TaskId;
use crate::plan::{PhaseFile, PlanFile, TaskFile};

const SCHEMA_HINT: &str =
    "The form is described in docs/reference/plan.schema.json; `swarm plan export` prints an example";

const PARTS_HINT: &str = r#"Write `[{"title": "…"}, {"title": "…"}]`, or a Markdown checklist"#;

pub(super) fn parse(name: &str, text: &str) -> Result<PlanFile, PlanFileError> {
    let mut plan: PlanFile = serde_json::from_str(text).map_err(|error| explain(name, text, &error))?;
    if plan.goal.trim().is_empty() {
        return Err(PlanFileError::whole(name, "its goal is empty", "Say in `goal` what the plan is for"));
    }
    if let Some(phase) = plan.phases.iter().find(|phase| phase.id == 0) {
        let why = format!("phase {:?} has the number 0", phase.name);
        return Err(PlanFileError::whole(name, why, "Phases are numbered from 1"));
    }
    let ids = plan.phases.iter().flat_map(|phase| &phase.tasks).map(|task| task.id.clone()).collect();
    for task in plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        depends(name, task, &ids)?;
    }
    // Our own exports say where they come from; that is not a part of the plan.
    if plan
        .extra
        .get("ledger")
        .is_some_and(|ledger| ledger.get("seq").is_some() && ledger.get("hash").is_some())
    {
        plan.extra.remove("ledger");
    }
    Ok(plan)
}

/// Other tools' words for it. Kept as a note that nobody reads, they would let a task begin too early.
pub(super) const DEPENDS_TOO: [&str; 4] = ["depends_on", "dependsOn", "blocked_by", "blockedBy"];

/// A word for packages as well: only a list that names a task of this plan is meant so.
const DEPENDS_PERHAPS: &str = "dependencies";

fn depends(name: &str, task: &mut TaskFile, all: &BTreeSet<TaskId>) -> Result<(), PlanFileError> {
    let is_there = |id: &str| TaskId::new(id).is_ok_and(|id| all.contains(&id));
    let names_a_task = |entry: &Value| entry.as_str().is_some_and(is_there);
    let perhaps = task.extra.get(DEPENDS_PERHAPS).and_then(Value::as_array);
    let meant = perhaps.is_some_and(|entries| entries.iter().any(names_a_task));
    for word in DEPENDS_TOO.into_iter().chain(meant.then_some(DEPENDS_PERHAPS)) {
        let Some(value) = task.extra.remove(word) else { continue };
        let ids: Vec<TaskId> = serde_json::from_value(value).map_err(|error| {
            let why = format!("`{word}` of task {}: {error}", task.id);
            PlanFileError::whole(name, why, "List the ids of tasks in `depends`")
        })?;
        let new = ids.into_iter().filter(|id| !task.depends.contains(id)).collect::<Vec<_>>();
        task.depends.extend(new);
    }
    Ok(())
}

/// A list of tasks, an object with `tasks`, or a plan.
pub(super) fn parse_parts(name: &str, text: &str, parent: &TaskId) -> Result<PlanFile, PlanFileError> {
    let whole: Value = serde_json::from_str(text).map_err(|error| explain(name, text, &error))?;
    let mut tasks = match whole {
        Value::Array(tasks) => tasks,
        Value::Object(mut members) => match (members.remove("tasks"), members.remove("phases")) {
            (Some(Value::Array(tasks)), _) => tasks,
            (_, Some(Value::Array(phases))) => phases
                .into_iter()
                .flat_map(|mut phase| match phase.get_mut("tasks").map(Value::take) {
                    Some(Value::Array(tasks)) => tasks,
                    _ => vec![],
                })
                .collect(),
            _ => return Err(PlanFileError::whole(name, "it has no tasks", PARTS_HINT)),
        },
        _ => return Err(PlanFileError::whole(name, "it is no list of tasks", PARTS_HINT)),
    };
    let mut number = 0;
    for task in tasks.iter_mut().filter_map(Value::as_object_mut) {
        if !task.contains_key("id") {
            number += 1;
            task.insert("id".into(), format!("{parent}-{number}").into());
        }
    }
    let tasks = tasks.into_iter().enumerate().map(|(at, task)| {
        serde_json::from_value(task).map_err(|error| {
            PlanFileError::whole(name, format!("task {} of the list: {error}", at + 1), SCHEMA_HINT)
        })
    });
    let mut tasks: Vec<TaskFile> = tasks.collect::<Result<_, _>>()?;
    let ids = tasks.iter().map(|task| task.id.clone()).collect();
    tasks.iter_mut().try_for_each(|task| depends(name, task, &ids))?;
    let phase = PhaseFile { id: 1, tasks, ..PhaseFile::default() };
    Ok(PlanFile { phases: vec![phase], ..PlanFile::default() })
}

pub(super) fn explain(name: &str, text: &str, error: &serde_json::Error) -> PlanFileError {
    let words = error.to_string();
    let why = words.split(" at line ").next().unwrap_or(&words).to_owned();
    let (why, hint) = if why.starts_with("recursion limit") {
        (
            "it is nested more than 128 levels deep".to_owned(),
            "A plan has phases, and phases have tasks: three levels",
        )
    } else if why.starts_with("trailing characters") {
        (
            "there is something behind the end of the plan".to_owned(),
            "A plan file holds exactly one JSON object",
        )
    } else if error.is_eof() {
        ("it ends too early".to_owned(), "The file was cut off, or a bracket is missing")
    } else if error.is_syntax() {
        (format!("it is not JSON here: {why}"), "Check commas, quotes and brackets before this place")
    } else if text.trim_start().starts_with('[') {
        ("it is a list, not an object".to_owned(), SCHEMA_HINT)
    } else {
        (why, SCHEMA_HINT)
    };
    if error.line() == 0 {
        return PlanFileError::whole(name, why, hint);
    }
    PlanFileError::at(name, error.line(), why, hint)
}
