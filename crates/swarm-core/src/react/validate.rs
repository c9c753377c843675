//! Whether a plan can be a plan: sizes, names, dependencies, no circles.

use std::collections::BTreeMap;

use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{ExecutionProfile, TaskSpec};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::reservation::check_glob;
use swarm_protocol::review::{ReviewNote, check_isolation, check_reviewer};

use crate::limits::{
    DESCRIPTION_MAX, ENTRY_MAX, LIST_MAX, REASON_MAX, RESERVED_GLOBS_MAX, TASK_BYTES_MAX, TITLE_MAX,
    VERDICT_NOTES_MAX,
};
use crate::state::{State, Task};
use crate::structure::{circle, graph, nearest};

fn too_large(what: String, limit: usize, got: usize) -> Refusal {
    Refusal::TooLarge { what, limit: limit as u64, got: got as u64 }
}

pub(super) fn reason(text: &str) -> Result<(), Refusal> {
    bounded("The reason", text, REASON_MAX)
}

/// As `reason`, and there must be something in it.
pub(super) fn text(what: &str, text: &str, limit: usize) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::BadValue { what: what.into(), why: "it is empty".into() });
    }
    bounded(what, text, limit)
}

fn bounded(what: &str, text: &str, limit: usize) -> Result<(), Refusal> {
    if text.len() > limit {
        return Err(too_large(format!("{what} in bytes"), limit, text.len()));
    }
    if text.contains('\0') {
        return Err(Refusal::BadValue { what: what.into(), why: "it contains a NUL character".into() });
    }
    Ok(())
}

/// What a reviewer wants changed: something, somewhere in the repository.
pub(super) fn notes(notes: &[ReviewNote]) -> Result<(), Refusal> {
    let what = "A review without notes";
    if notes.is_empty() {
        return Err(Refusal::BadValue { what: what.into(), why: "say what is to be changed".into() });
    }
    if notes.len() > LIST_MAX {
        return Err(too_large(what.into(), LIST_MAX, notes.len()));
    }
    let bytes = serde_json::to_vec(notes).map_or(usize::MAX, |bytes| bytes.len());
    if bytes > VERDICT_NOTES_MAX {
        return Err(too_large("The text of all notes in bytes".into(), VERDICT_NOTES_MAX, bytes));
    }
    for note in notes {
        text("A note of a review", &note.text, REASON_MAX)?;
        if let Some(file) = &note.file {
            text("The file of a note", file, ENTRY_MAX)?;
            let leaves = file.starts_with('/') || file.split('/').any(|part| part == "..");
            if leaves || note.line == Some(0) {
                let why = "it must lie in the repository, and lines are counted from 1";
                return Err(Refusal::BadValue { what: "The place of a note".into(), why: why.into() });
            }
        }
    }
    Ok(())
}

/// Names for files of the repository, at least one.
pub(super) fn globs(what: &str, globs: &[String], most: usize) -> Result<(), Refusal> {
    if globs.is_empty() {
        return Err(Refusal::BadValue { what: what.into(), why: "name at least one".into() });
    }
    if globs.len() > most {
        return Err(too_large(what.into(), most, globs.len()));
    }
    for glob in globs {
        bounded(what, glob, ENTRY_MAX)?;
        check_glob(glob).map_err(|why| Refusal::BadValue { what: what.into(), why })?;
    }
    Ok(())
}

pub(super) fn spec(spec: &TaskSpec) -> Result<(), Refusal> {
    let id = &spec.id;
    let bad =
        |what: &str, why: &str| Refusal::BadValue { what: format!("{what} of task {id}"), why: why.into() };
    if spec.title.trim().is_empty() {
        return Err(bad("The title", "it is empty"));
    }
    if spec.title.chars().any(char::is_control) {
        return Err(bad("The title", "it contains a line break or control character"));
    }
    if spec.title.len() > TITLE_MAX {
        return Err(too_large(format!("The title of task {id} in bytes"), TITLE_MAX, spec.title.len()));
    }
    if spec.description.len() > DESCRIPTION_MAX {
        return Err(too_large(
            format!("The description of task {id} in bytes"),
            DESCRIPTION_MAX,
            spec.description.len(),
        ));
    }
    if spec.description.contains('\0') {
        return Err(bad("The description", "it contains a NUL character"));
    }
    let lists = [("acceptance", &spec.acceptance), ("files", &spec.files), ("tags", &spec.tags)];
    for (name, list) in lists {
        if list.len() > LIST_MAX {
            return Err(too_large(format!("The list {name} of task {id}"), LIST_MAX, list.len()));
        }
        if let Some(entry) = list.iter().find(|e| e.len() > ENTRY_MAX) {
            return Err(too_large(
                format!("An entry of {name} of task {id} in bytes"),
                ENTRY_MAX,
                entry.len(),
            ));
        }
    }
    if spec.depends.len() > LIST_MAX {
        return Err(too_large(format!("The list depends of task {id}"), LIST_MAX, spec.depends.len()));
    }
    if spec.priority.is_some_and(|p| p > 4) {
        return Err(bad("The priority", "it must be 0 (most urgent) to 4"));
    }
    let words = [
        ("The review", &spec.review, check_reviewer as fn(&str) -> Result<(), String>),
        ("The isolation", &spec.isolation, check_isolation),
    ];
    for (what, word, check) in words {
        word.as_deref().map_or(Ok(()), check).map_err(|why| bad(what, &why))?;
    }
    for (name, list) in [("reserve", &spec.reserve), ("share", &spec.share)] {
        let what = format!("The list {name} of task {id}");
        list.first().map_or(Ok(()), |_| globs(&what, list, RESERVED_GLOBS_MAX))?;
    }
    let bytes = serde_json::to_vec(spec).map_or(usize::MAX, |b| b.len());
    if bytes > TASK_BYTES_MAX {
        return Err(too_large(format!("Task {id} in bytes"), TASK_BYTES_MAX, bytes));
    }
    Ok(())
}

pub(super) fn profile(profile: &ExecutionProfile) -> Result<(), Refusal> {
    if (1..=64).contains(&profile.max_concurrent_tasks) {
        return Ok(());
    }
    let what = "max_concurrent_tasks of the execution profile".into();
    Err(Refusal::BadValue { what, why: format!("it must be 1 to 64, not {}", profile.max_concurrent_tasks) })
}

/// The task of this name, or a refusal that names the nearest one.
pub(super) fn known<'a>(state: &'a State, id: &TaskId) -> Result<&'a Task, Refusal> {
    if state.plan.is_none() {
        return Err(Refusal::NoPlan);
    }
    state.task(id).ok_or_else(|| Refusal::UnknownTask {
        task: id.to_string(),
        near: nearest(id.as_str(), state.tasks.keys()),
    })
}

/// As `graph`, where a task that was split also waits for its parts. `more`: one that is about to be.
pub(super) fn graph_of_wholes(
    state: &State,
    edges: BTreeMap<&TaskId, &[TaskId]>,
    more: Option<(&TaskId, Vec<TaskId>)>,
) -> Result<(), Refusal> {
    graph(&edges)?;
    let split = state.tasks.iter().filter(|(_, task)| !task.parts.is_empty());
    let wholes = split.map(|(id, task)| (id, task.parts.clone())).chain(more);
    let waits: Vec<(&TaskId, Vec<TaskId>)> = wholes
        .filter_map(|(id, parts)| {
            let depends = edges.get(id)?;
            let there = parts.into_iter().filter(|part| edges.contains_key(part));
            Some((id, depends.iter().cloned().chain(there).collect()))
        })
        .collect();
    if waits.is_empty() {
        return Ok(());
    }
    let known = edges.iter().map(|(id, depends)| (*id, *depends));
    let edges = known.chain(waits.iter().map(|(id, depends)| (*id, depends.as_slice()))).collect();
    circle(&edges).map_or(Ok(()), |path| Err(Refusal::Cycle { path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_remarks_fits_into_one_record() {
        let of = |count: usize| {
            let note = ReviewNote { text: "x".repeat(REASON_MAX), ..ReviewNote::default() };
            notes(&vec![note; count]).err().map(|refusal| refusal.message())
        };
        assert_eq!(of(120), None);
        let refused = of(LIST_MAX).expect("they are more than a record holds");
        assert!(refused.contains("all notes is too long") && refused.contains("524288"), "{refused}");
    }
}
