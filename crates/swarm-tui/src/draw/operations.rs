//! Operations: one line each, and everything about the selected one below them or on the whole screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::ids::CommandId;
use swarm_protocol::oplog::{OperationState, OperationView};

use super::text::{cut, pad, put, put_all, rule, span, wrapped};
use super::{layout, lists};
use crate::keys::Action;
use crate::model::{Model, View};
use crate::said::{age, count, moment};
use crate::theme::Role;

/// Lines of the list that stay above the selected operation, where there are so many.
const LIST_LEAST: u16 = 3;

/// Rows of the list in a view of this height.
pub fn list_rows(model: &Model, area: Rect) -> u16 {
    let all = u16::try_from(model.length(View::Operations)).unwrap_or(u16::MAX).max(1);
    let open = model.selected_operation().map_or(0, |op| lines(model, op, usize::from(area.width)).len() + 1);
    let open = u16::try_from(open).unwrap_or(u16::MAX);
    area.height.saturating_sub(open).max(LIST_LEAST.max(area.height / 3)).min(all).min(area.height)
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let Some(board) = &model.board else { return };
    let width = usize::from(area.width);
    let line = |n: usize| Some(one(model, board.operations.get(n)?, width));
    let list = Rect { height: list_rows(model, area), ..area };
    let first = layout::first_shown(model, View::Operations);
    lists::rows(model, frame, list, View::Operations, first, line, "No operation yet");
    let below = Rect { y: list.bottom() + 1, height: area.height.saturating_sub(list.height + 1), ..area };
    if let Some(op) = model.selected_operation() {
        put_all(frame, below, lines(model, op, width));
    }
}

/// What covers the board: all of the operation that was opened.
pub fn full(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    put(frame, area, rule(model.theme, "operation", area.width, Role::Title));
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    put_all(frame, body, all_lines(model).into_iter().skip(model.scroll));
}

pub fn length(model: &Model) -> usize {
    all_lines(model).len()
}

fn all_lines(model: &Model) -> Vec<Line<'static>> {
    match model.opened_operation() {
        Some(op) => lines(model, op, usize::from(model.size.0)),
        None => {
            let gone = match model.past {
                Some(at) => format!(" It is not among the newest fifty of record {at}"),
                None => " It is no longer among the newest fifty".into(),
            };
            vec![Line::from(span(model.theme, Role::Dim, &gone))]
        }
    }
}

fn state(op: &OperationView) -> (&'static str, Role) {
    match op.state {
        OperationState::UnderWay => ("under way", Role::Works),
        OperationState::Waits => ("waits", Role::Waits),
        OperationState::Done if op.can_be_undone => ("done", Role::Good),
        OperationState::Done => ("done", Role::Dim),
        OperationState::Undone => ("undone", Role::Dim),
        OperationState::Failed => ("failed", Role::Bad),
    }
}

fn one(model: &Model, op: &OperationView, width: usize) -> Line<'static> {
    let theme = model.theme;
    let (word, role) = state(op);
    let step = op.step.as_ref().map(|step| format!(" ({step})")).unwrap_or_default();
    let by = op.by.strip_prefix("person:").map_or("swarm", |_| "you");
    let text = format!("{}{step}", op.text);
    let at = moment(op.at, model.clock());
    Line::from(vec![
        span(theme, Role::Dim, &format!(" {at} {} ", pad(by, 6))),
        span(theme, role, &pad(word, 10)),
        span(theme, Role::Plain, &cut(&text, width.saturating_sub(20 + at.len()))),
    ])
}

/// Who, when and how it is taken back; then what it did.
fn lines(model: &Model, op: &OperationView, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let head = format!(" #{} {}", op.seq, op.text);
    let mut lines: Vec<Line<'static>> =
        wrapped(&head, width).iter().map(|line| Line::from(span(theme, Role::Bold, line))).collect();
    for (name, text) in facts(model, op) {
        for (at, part) in wrapped(&text, width.saturating_sub(13)).iter().enumerate() {
            let head = if at == 0 { name } else { "" };
            lines.push(Line::from(vec![
                span(theme, Role::Dim, &format!(" {} ", pad(head, 10))),
                span(theme, Role::Plain, part),
            ]));
        }
    }
    lines
}

fn facts(model: &Model, op: &OperationView) -> Vec<(&'static str, String)> {
    let mut facts = vec![("by", format!("{}, {}: {}", op.by, age(model.clock(), op.at), state(op).0))];
    facts.extend(op.step.iter().map(|step| ("step", step.clone())));
    facts.extend(taken_back(model, op).map(|text| ("undo", text)));
    facts.extend(op.undoes.iter().map(|id| ("takes back", number(model, id))));
    facts.extend(op.undone_by.iter().map(|id| ("undone by", number(model, id))));
    facts.extend(op.checkpoint.iter().map(|name| ("before it", format!("checkpoint {name}"))));
    let named = |name: &'static str, list: &[String]| {
        let first = |n: usize| if n == 0 { name } else { "" };
        list.iter().enumerate().map(|(n, text)| (first(n), text.clone())).collect::<Vec<_>>()
    };
    if let Some(did) = &op.did {
        let says = &did.says;
        facts.extend(named("tasks", &says.tasks));
        facts.extend(named("commits", &says.commits));
        facts.extend(named("kept", &says.work));
        facts.extend(named("others'", &says.foreign));
        facts.extend(named("stays", &says.stays));
        let made: Vec<&str> = did.made.iter().map(|commit| commit.short()).collect();
        if !made.is_empty() {
            facts.push(("made", format!("{}: {}", count(made.len() as u64, "new commit"), made.join(", "))));
        }
    }
    facts.extend(named("changed", &op.changes));
    facts
}

/// The command that takes it back, or why there is none. Neither holds in the past, where nothing is taken back.
fn taken_back(model: &Model, op: &OperationView) -> Option<String> {
    if model.past.is_some() {
        return None;
    }
    let undo = format!("{}undo {}", model.keys.first(Action::Palette), op.seq);
    match (op.state, op.can_be_undone) {
        (OperationState::Done, true) => {
            let newest = model.last_operation().is_some_and(|last| last.id == op.id);
            let key = format!(" (or {})", model.keys.first(Action::Undo));
            Some(format!("{undo}{}", if newest { key } else { String::new() }))
        }
        (OperationState::Undone, _) => None,
        _ => {
            let why = op.why_not.clone();
            let words = [why, op.hint.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ");
            (!words.is_empty()).then(|| format!("not now: {words}"))
        }
    }
}

/// By the number that the list of operations has; one that is no longer listed has only its id.
fn number(model: &Model, id: &CommandId) -> String {
    let all = model.board.as_ref().map(|board| board.operations.as_slice()).unwrap_or_default();
    all.iter().find(|op| op.id == *id).map_or_else(|| id.to_string(), |op| format!("#{} {}", op.seq, op.text))
}
