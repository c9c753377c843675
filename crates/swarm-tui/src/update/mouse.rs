//! Click selects and focuses, double click opens, the wheel moves the pane below it; keys of the last line can be clicked.

use super::moving;
use crate::draw::layout::{self, Pane};
use crate::input::{Mouse, Wish};
use crate::model::{Full, Model, Node, View};

pub fn used(model: &mut Model, mouse: Mouse) -> Vec<Wish> {
    // A dialog is answered by keys: a click beside it must not do anything behind it.
    if model.dialog.is_some() {
        return vec![];
    }
    match mouse {
        Mouse::Wheel { lines, .. } if model.full.is_some() => moving::by_lines(model, i64::from(lines)),
        Mouse::Wheel { column, row, lines } => match layout::at(model, column, row) {
            Some((Pane::View(view), _)) => moving::in_view(model, view, i64::from(lines)),
            Some((Pane::Log, _)) => moving::in_log(model, i64::from(lines)),
            _ => {}
        },
        Mouse::Click(column, row) => return clicked(model, column, row),
    }
    vec![]
}

/// Two clicks at one place within this time are one that opens.
const DOUBLE_MS: u64 = 400;

fn clicked(model: &mut Model, column: u16, row: u16) -> Vec<Wish> {
    if row + 1 == model.size.1 {
        let action = crate::draw::footer::at(model, column);
        return action.map(|action| super::pressed::act(model, action)).unwrap_or_default();
    }
    let (now, last) = (model.now, model.clicked.replace((model.now, column, row)));
    let again = |(at, x, y): (_, u16, u16)| {
        let at: swarm_protocol::time::Timestamp = at;
        (x, y) == (column, row) && now.0.saturating_sub(at.0) < DOUBLE_MS
    };
    let double = last.is_some_and(again);
    if model.full.is_some() {
        return vec![];
    }
    match layout::at(model, column, row) {
        Some((Pane::View(view), line)) => {
            let there = layout::first_shown(model, view) + usize::from(line);
            if there < model.length(view) {
                // The first click may have moved the lines of a long list: the second one is meant for what it selected.
                let at = if double && view == model.view { model.cursor(view) } else { there };
                model.view = view;
                select(model, view, at);
                let opens = !matches!(model.node, Some(Node::Phase(_))) || view != View::Plan;
                if double && opens {
                    model.clicked = None;
                    return moving::open(model);
                }
            }
        }
        Some((Pane::Tabs, _)) => {
            if let Some(view) = layout::tab_at(model, column) {
                return moving::to_view(model, view);
            }
        }
        Some((Pane::Log, _)) => model.full = Some(Full::Log),
        Some((Pane::Wall, _)) if model.past.is_none() => model.full = Some(Full::Wall),
        _ => {}
    }
    vec![]
}

fn select(model: &mut Model, view: View, at: usize) {
    if view != View::Plan {
        model.cursors[view.index()] = at;
        return;
    }
    let node = model.nodes().get(at).cloned();
    // A second click on a phase folds it.
    if let (Some(Node::Phase(id)), true) = (&node, node == model.node)
        && !model.folded.remove(id)
    {
        model.folded.insert(*id);
    }
    model.node = node;
}
