//! Which task waits for which: from the left to the right, each task once.

use std::collections::{BTreeMap, BTreeSet};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use swarm_protocol::board::BoardRow;
use swarm_protocol::ids::TaskId;
use unicode_width::UnicodeWidthStr;

use super::text::{put, put_all, rule, span};
use crate::model::Model;
use crate::said::count;
use crate::theme::Role;

/// A longer chain is cut: nobody has so wide a screen.
const DEPTH_MAX: usize = 60;

/// Tasks around the selected one that are shown on the board.
const AROUND_MAX: usize = 40;

/// A piece of a line.
type Piece = (Role, String);

struct Drawing<'a> {
    model: &'a Model,
    rows: BTreeMap<&'a TaskId, &'a BoardRow>,
    /// Tasks that wait for each, in the order of the plan.
    next: BTreeMap<&'a TaskId, Vec<&'a TaskId>>,
    drawn: BTreeSet<&'a TaskId>,
    /// The line that the selected task stands on.
    selected: usize,
}

impl<'a> Drawing<'a> {
    fn of(model: &'a Model, wanted: impl Fn(&TaskId) -> bool) -> Self {
        let shown = model.rows().iter().filter(|row| wanted(&row.row.id));
        let rows: BTreeMap<&TaskId, &BoardRow> = shown.map(|row| (&row.row.id, row)).collect();
        let mut next: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
        for row in model.rows().iter().filter(|row| rows.contains_key(&row.row.id)) {
            for before in row.row.depends.iter().filter(|id| rows.contains_key(id)) {
                next.entry(before).or_default().push(&row.row.id);
            }
        }
        Self { model, rows, next, drawn: BTreeSet::new(), selected: 0 }
    }

    fn lines(&mut self) -> Vec<Vec<Piece>> {
        let is_first = |row: &&BoardRow| !row.row.depends.iter().any(|id| self.rows.contains_key(id));
        let in_order = self.model.rows().iter().filter(|row| self.rows.contains_key(&row.row.id));
        let firsts: Vec<&'a TaskId> = in_order.filter(is_first).map(|row| &row.row.id).collect();
        let mut lines = Vec::new();
        for first in firsts {
            let block = self.block(first, 0, lines.len());
            lines.extend(block);
        }
        lines
    }

    /// The task with all that waits for it and is not drawn yet, beginning at this line.
    fn block(&mut self, id: &'a TaskId, depth: usize, at: usize) -> Vec<Vec<Piece>> {
        let Some(row) = self.rows.get(id).copied() else { return vec![] };
        let theme = self.model.theme;
        if !self.drawn.insert(id) {
            return vec![vec![(Role::Dim, format!("({id})"))]];
        }
        let is_selected = self.model.looking_at.as_ref() == Some(id);
        if is_selected {
            self.selected = at;
        }
        let role = if is_selected { Role::Selected } else { theme.role(row.group) };
        let head = format!("{} {id}", theme.sign(row.group));
        let blank = " ".repeat(head.width());
        let next = self.next.get(id).cloned().unwrap_or_default();
        if next.is_empty() {
            return vec![vec![(role, head)]];
        }
        if depth == DEPTH_MAX {
            return vec![vec![(role, head), (Role::Dim, format!(" ── and {} more", next.len()))]];
        }
        let mut lines: Vec<Vec<Piece>> = Vec::new();
        let last = next.len() - 1;
        for (n, id) in next.into_iter().enumerate() {
            let block = self.block(id, depth + 1, at + lines.len());
            for (m, rest) in block.into_iter().enumerate() {
                let (before, joint) = match (n, m) {
                    (0, 0) if last == 0 => (head.clone(), " ── "),
                    (0, 0) => (head.clone(), " ─┬─ "),
                    (n, 0) if n == last => (blank.clone(), "  └─ "),
                    (_, 0) => (blank.clone(), "  ├─ "),
                    (n, _) if n == last && last == 0 => (blank.clone(), "    "),
                    (n, _) if n == last => (blank.clone(), "     "),
                    _ => (blank.clone(), "  │  "),
                };
                let role = if (n, m) == (0, 0) { role } else { Role::Plain };
                let front = [(role, before), (Role::Dim, joint.to_owned())];
                lines.push(front.into_iter().chain(rest).collect());
            }
        }
        lines
    }
}

/// The selected task, all that it waits for and all that waits for it.
fn around(model: &Model) -> BTreeSet<TaskId> {
    let Some(selected) = &model.looking_at else { return BTreeSet::new() };
    let mut found = BTreeSet::from([selected.clone()]);
    let mut open = vec![selected];
    while let Some(id) = open.pop() {
        for before in model.row(id).map(|row| row.row.depends.as_slice()).unwrap_or_default() {
            if found.len() < AROUND_MAX && found.insert(before.clone()) {
                open.push(before);
            }
        }
    }
    let mut after = BTreeSet::from([selected.clone()]);
    for row in model.rows() {
        if found.len() < AROUND_MAX && row.row.depends.iter().any(|id| after.contains(id)) {
            after.insert(row.row.id.clone());
            found.insert(row.row.id.clone());
        }
    }
    found
}

fn line(model: &Model, pieces: Vec<Piece>) -> Line<'static> {
    let spans = pieces.iter().map(|(role, text)| span(model.theme, *role, text));
    Line::from([Span::raw(" ")].into_iter().chain(spans).collect::<Vec<_>>())
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let around = around(model);
    let mut drawing = Drawing::of(model, |id| around.contains(id));
    let lines = drawing.lines();
    let room = usize::from(area.height);
    let first = drawing.selected.saturating_sub(room / 2).min(lines.len().saturating_sub(room));
    put_all(frame, area, lines.into_iter().skip(first).take(room).map(|pieces| line(model, pieces)));
}

pub fn length(model: &Model) -> usize {
    Drawing::of(model, |_| true).lines().len()
}

/// So that the selected task is on the screen.
pub fn scroll_to_selected(model: &Model) -> usize {
    let mut drawing = Drawing::of(model, |_| true);
    let length = drawing.lines().len();
    let room = usize::from(super::layout::page(model));
    drawing.selected.saturating_sub(room / 2).min(length.saturating_sub(room))
}

pub fn full(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let mut drawing = Drawing::of(model, |_| true);
    let lines = drawing.lines();
    let title =
        format!("graph of {} · what stands to the right waits", count(model.rows().len() as u64, "task"));
    put(frame, area, rule(model.theme, &title, area.width, Role::Title));
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let shown = lines.into_iter().skip(model.scroll).take(usize::from(body.height));
    put_all(frame, body, shown.map(|pieces| line(model, pieces)));
}
