//! Up and down, in and out.

use swarm_protocol::board::{BoardRow, Group};

use crate::draw::{layout, log};
use crate::input::Wish;
use crate::keys::Action;
use crate::model::{Full, Model, Node, View};

pub fn moved(model: &mut Model, action: Action) -> Vec<Wish> {
    let page = i64::from(layout::page(model));
    let by = match action {
        Action::Down => 1,
        Action::Up => -1,
        Action::HalfDown => page / 2,
        Action::HalfUp => -(page / 2),
        Action::PageDown => page,
        Action::PageUp => -page,
        Action::First => i64::MIN / 2,
        _ => i64::MAX / 2,
    };
    by_lines(model, by);
    vec![]
}

/// Moves what is in front by so many lines.
pub fn by_lines(model: &mut Model, by: i64) {
    match model.full {
        Some(Full::Log) => in_log(model, by),
        Some(Full::Wall | Full::Usage) => {}
        Some(Full::Diff | Full::Graph | Full::Help | Full::Operation) => {
            let most = layout::scroll_max(model);
            model.scroll = shifted(model.scroll, by, most);
        }
        None => in_view(model, model.view, by),
    }
}

pub fn in_view(model: &mut Model, view: View, by: i64) {
    let length = model.length(view);
    if length == 0 {
        return;
    }
    let at = shifted(model.cursor(view), by, length - 1);
    match view {
        View::Plan => model.node = model.nodes().get(at).cloned(),
        view => model.cursors[view.index()] = at,
    }
}

/// Counted from the end; at the end it follows again.
pub fn in_log(model: &mut Model, by: i64) {
    let most = log::back_max(model);
    let back = shifted(model.log.back.unwrap_or_default(), by.saturating_neg(), most);
    model.log.back = (back > 0).then_some(back);
    if back == 0 {
        model.log.unseen = 0;
    }
}

fn shifted(at: usize, by: i64, most: usize) -> usize {
    let at = i64::try_from(at).unwrap_or(i64::MAX).saturating_add(by).max(0);
    usize::try_from(at).unwrap_or(usize::MAX).min(most)
}

pub fn to_view(model: &mut Model, view: View) -> Vec<Wish> {
    model.view = view;
    model.full = None;
    model.came_from = None;
    vec![]
}

pub fn next_view(model: &mut Model, by: usize) -> Vec<Wish> {
    let all = View::ALL;
    to_view(model, all[(model.view.index() + by) % all.len()])
}

/// Unfolds a phase, or jumps from a line to the task that it is about.
pub fn open(model: &mut Model) -> Vec<Wish> {
    match model.full {
        Some(Full::Diff) => {
            if let Some(file) = crate::draw::diff::head_at(model) {
                turn_file(model, file);
                return vec![];
            }
            return super::dialogs::open_note(model);
        }
        Some(Full::Log) => {
            model.log_folded = false;
            return vec![];
        }
        Some(Full::Operation) => {
            // Not the selected one: while it is read, newer ones move the list below it.
            let task = model.opened_operation().and_then(|op| model.task_of(op));
            to_task(model, task);
            return vec![];
        }
        Some(_) => return vec![],
        None => {}
    }
    match (model.view, model.node.clone()) {
        (View::Plan, Some(Node::Phase(id))) => {
            if !model.folded.remove(&id) {
                model.folded.insert(id);
            }
        }
        (View::Plan, Some(Node::Task(id))) => {
            let waits = |row: &BoardRow| row.group == Group::Ready && row.waits_for_start;
            if model.past.is_none() && model.row(&id).is_some_and(waits) {
                return super::pressed::act(model, Action::Start);
            }
            return super::pressed::act(model, Action::Full);
        }
        (View::Checkpoints, _) => {
            return super::dialogs::open_checkpoints(model, model.cursor(View::Checkpoints));
        }
        (View::Operations, _) => {
            model.opened = model.selected_operation().map(|op| op.id.clone());
            if model.opened.is_some() {
                (model.full, model.scroll) = (Some(Full::Operation), 0);
            }
        }
        _ => {
            let task = model.selected_task();
            to_task(model, task);
        }
    }
    vec![]
}

/// From a line to the task that it is about.
fn to_task(model: &mut Model, task: Option<swarm_protocol::ids::TaskId>) {
    if let Some(task) = task {
        (model.full, model.scroll) = (None, 0);
        model.view = View::Plan;
        jump(model, &task);
    }
}

/// Folds a file of the diff, or unfolds it.
fn turn_file(model: &mut Model, file: String) {
    if !model.turned.remove(&file) {
        model.turned.insert(file);
    }
    model.scroll = model.scroll.min(layout::scroll_max(model));
}

/// Selects the task in the tree, unfolding and unfiltering what hides it.
pub fn jump(model: &mut Model, task: &swarm_protocol::ids::TaskId) {
    let Some(phase) = model.row(task).map(|row| row.row.phase) else { return };
    model.folded.remove(&phase);
    if model.filter.as_ref().is_some_and(|f| model.row(task).is_some_and(|row| !f.fits(row))) {
        model.filter = None;
    }
    model.node = Some(Node::Task(task.clone()));
}

pub fn fold(model: &mut Model) -> Vec<Wish> {
    if model.full == Some(Full::Log) {
        model.log_folded = !model.log_folded;
        (model.log.back, model.log.unseen) = (None, 0);
        return vec![];
    }
    let phase = match &model.node {
        Some(Node::Phase(id)) => Some(*id),
        Some(Node::Task(id)) => model.row(id).map(|row| row.row.phase),
        None => None,
    };
    if let (View::Plan, Some(id)) = (model.view, phase) {
        model.folded.insert(id);
        model.node = Some(Node::Phase(id));
    }
    vec![]
}

/// One step back: what covers, the filter, where `a` came from.
pub fn back(model: &mut Model) -> Vec<Wish> {
    if model.full == Some(Full::Log) && model.search.take().is_some() {
        // All of the log is there again.
    } else if model.full.take().is_some() {
        model.scroll = 0;
    } else if std::mem::take(&mut model.enlarged) {
        // The other views are back.
    } else if model.filter.take().is_some() {
        model.typing_filter = false;
    } else if let Some(view) = model.came_from.take() {
        model.view = view;
    } else if !model.marked.is_empty() {
        model.marked.clear();
    } else {
        model.said = None;
    }
    vec![]
}

/// The next thing that waits for the person, from anywhere.
pub fn attention(model: &mut Model) -> Vec<Wish> {
    let count = model.length(View::Attention);
    if count == 0 {
        model.note("Nothing waits for you");
        return vec![];
    }
    let at = &mut model.cursors[View::Attention.index()];
    if model.view == View::Attention {
        *at = (*at + 1) % count;
    } else {
        let from = model.view;
        *at = 0;
        to_view(model, View::Attention);
        model.came_from = Some(from);
    }
    vec![]
}

/// To the next line of a log or diff that matters: a tool call, a hunk, a file.
pub fn to_mark(model: &mut Model, forth: bool, files: bool) -> Vec<Wish> {
    match model.full {
        Some(Full::Diff) => {
            let marks = crate::draw::diff::marks(model, files);
            let next = match forth {
                true => marks.iter().find(|at| **at > model.scroll),
                false => marks.iter().rev().find(|at| **at < model.scroll),
            };
            if let Some(at) = next {
                model.scroll = (*at).min(layout::scroll_max(model));
            }
        }
        _ => log_mark(model, forth),
    }
    vec![]
}

fn log_mark(model: &mut Model, forth: bool) {
    let room = usize::from(layout::log_room(model));
    let shown = log::shown_lines(model);
    let top = shown.len().saturating_sub(room + model.log.back.unwrap_or_default());
    let is_mark = |at: &usize| log::is_landmark(&model.log.lines[shown[*at]]);
    let found = match forth {
        true => (top + 1..shown.len()).find(is_mark),
        false => (0..top).rev().find(is_mark),
    };
    if let Some(at) = found {
        let back = shown.len().saturating_sub(room + at);
        model.log.back = (back > 0).then_some(back);
        if back == 0 {
            model.log.unseen = 0;
        }
    }
}

/// Another record of the ledger, or the present.
pub fn travel(model: &mut Model, by: i64) -> Vec<Wish> {
    let Some(board) = &model.board else { return vec![] };
    let at = shifted(usize::try_from(board.status.seq).unwrap_or_default(), by, usize::MAX) as u64;
    if at >= model.newest {
        return present(model);
    }
    look_at_record(model, Some(at.max(1)));
    if matches!(model.full, Some(Full::Diff | Full::Wall | Full::Usage)) {
        // Those are about the present.
        model.full = None;
    }
    vec![Wish::Board(model.past)]
}

pub fn present(model: &mut Model) -> Vec<Wish> {
    look_at_record(model, None);
    vec![Wish::Board(None)]
}

/// Whoever reads further down the events stays at theirs, where it has happened by then.
fn look_at_record(model: &mut Model, past: Option<u64>) {
    let at = model.cursor(View::Events);
    let read = model.shown_events().nth(at).filter(|_| at > 0).map(|event| event.seq);
    model.past = past;
    let place = read.and_then(|seq| model.shown_events().position(|event| event.seq <= seq));
    model.cursors[View::Events.index()] = place.unwrap_or_default();
}
