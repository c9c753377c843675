//! Tasks that are marked, and what is taken out of the screen: to the clipboard, into an editor.

use swarm_protocol::ids::TaskId;

use crate::draw::{diff, log};
use crate::input::Wish;
use crate::model::{Full, Model, View};
use crate::said::count;

/// Marks the selected task, or takes its mark away.
pub fn mark(model: &mut Model) {
    let Some(task) = model.looking_at.clone() else {
        model.note("Select a task first");
        return;
    };
    if !model.marked.remove(&task) {
        model.marked.insert(task);
    }
    let said = match model.marked.len() {
        0 => "Nothing is marked".to_owned(),
        n => format!("{} marked; Esc takes the marks away", count(n as u64, "task")),
    };
    model.note(said);
}

/// Those that are marked, in the order of the plan; without marks this one.
pub fn meant(model: &mut Model, task: TaskId) -> Vec<TaskId> {
    let marked = model.rows().iter().map(|row| row.row.id.clone()).filter(|id| model.marked.contains(id));
    let marked: Vec<TaskId> = marked.collect();
    model.marked.clear();
    if marked.is_empty() { vec![task] } else { marked }
}

pub fn copy(model: &mut Model) -> Vec<Wish> {
    let text = match (model.full, model.view) {
        (Some(Full::Log), _) => log::line_at(model),
        (Some(Full::Diff), _) => diff::text_at(model),
        (None, View::Attention) => {
            let at = model.cursor(View::Attention);
            model.board.as_ref().and_then(|b| b.attention.get(at)).map(|entry| entry.entry.what.clone())
        }
        _ if !model.marked.is_empty() => {
            Some(model.marked.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" "))
        }
        _ => model.looking_at.as_ref().map(ToString::to_string),
    };
    let Some(text) = text else { return vec![] };
    model.note(format!("Copied: {text}"));
    vec![Wish::Copy(text)]
}

/// The lines from one landmark of the log to the next, or the file of the diff.
pub fn show_block(model: &mut Model) -> Vec<Wish> {
    let text = match model.full {
        Some(Full::Diff) => diff::file_at(model),
        Some(Full::Wall | Full::Graph | Full::Usage | Full::Help) => None,
        _ => log::block(model),
    };
    match text {
        Some(text) => vec![Wish::Show(text)],
        None => {
            model.note("There is no part of a log or of a diff here");
            vec![]
        }
    }
}
