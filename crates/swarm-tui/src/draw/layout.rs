//! Where everything stands, for a size of the terminal. Pure, so that keys and the mouse know it too.

use ratatui::layout::Rect;

use crate::model::{Full, Model, View};

/// Columns and rows below which only the four lines that are never hidden are shown.
const LEAST: (u16, u16) = (60, 16);
/// From here on several views stand side by side.
const WIDE: (u16, u16) = (110, 24);
const HUGE: (u16, u16) = (200, 50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Tiny,
    Narrow,
    Wide,
    Huge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    Tabs,
    View(View),
    Log,
    /// The logs of the other agents.
    Wall,
    Detail,
    /// What the selected task waits for, and what waits for it.
    Graph,
    /// Tasks that are left and money spent.
    Usage,
}

/// A pane, the line above it, and its own place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    pub pane: Pane,
    pub title: Rect,
    pub body: Rect,
}

pub fn size(model: &Model) -> Size {
    match model.size {
        (columns, rows) if columns < LEAST.0 || rows < LEAST.1 => Size::Tiny,
        (columns, rows) if columns >= HUGE.0 && rows >= HUGE.1 => Size::Huge,
        (columns, rows) if columns >= WIDE.0 && rows >= WIDE.1 => Size::Wide,
        _ => Size::Narrow,
    }
}

/// The line below the attention line is there only when something is abnormal.
pub fn head_rows(model: &Model) -> u16 {
    2 + u16::from(super::header::abnormal(model).is_some())
}

/// Between the head and the two lines at the foot.
pub fn middle(model: &Model) -> Rect {
    let (columns, rows) = model.size;
    let head = head_rows(model);
    Rect::new(0, head, columns, rows.saturating_sub(head + super::footer::rows(model)))
}

fn placed(pane: Pane, area: Rect) -> Placed {
    let title = Rect { height: area.height.min(1), ..area };
    let body = Rect { y: area.y + title.height, height: area.height - title.height, ..area };
    Placed { pane, title, body }
}

pub fn panes(model: &Model) -> Vec<Placed> {
    let area = middle(model);
    // What is enlarged has it all, below the tabs that lead away from it.
    if model.enlarged && model.board.is_some() && model.full.is_none() && size(model) != Size::Tiny {
        let (tabs, rest) = cut_below(area, 1);
        let tabs = Placed { pane: Pane::Tabs, title: tabs, body: Rect { height: 0, ..tabs } };
        return vec![tabs, placed(Pane::View(model.view), rest)];
    }
    if model.board.is_none() || model.full.is_some() {
        return vec![];
    }
    match size(model) {
        Size::Tiny => vec![],
        Size::Narrow => narrow(model, area),
        Size::Wide => wide(model, area),
        Size::Huge => huge(model, area),
    }
}

/// One view at a time below tabs, and the selected task below it.
fn narrow(model: &Model, area: Rect) -> Vec<Placed> {
    let tabs = Rect { height: 1, ..area };
    let below = if area.height >= 18 { 8 } else { 5 };
    let rest = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let (top, bottom) = cut_below(rest, rest.height - below);
    let lower = if model.agent().is_some() { Pane::Log } else { Pane::Detail };
    let tabs = Placed { pane: Pane::Tabs, title: tabs, body: Rect { height: 0, ..tabs } };
    vec![tabs, placed(Pane::View(model.view), top), placed(lower, bottom)]
}

/// What stands where the plan is: a view without a place of its own takes it while it is focused.
fn main_view(model: &Model, beside: &[View]) -> View {
    if beside.contains(&model.view) { View::Plan } else { model.view }
}

fn wide(model: &Model, area: Rect) -> Vec<Placed> {
    let events = (area.height / 5).clamp(4, 10);
    let (top, bottom) = cut_below(area, area.height - events);
    let left = top.width * 54 / 100;
    let (first, second) = cut_right(top, left);
    let detail = if first.height > 20 { 9 } else { 6 };
    let (plan, detail) = cut_below(first, first.height - detail);
    let agents = agents_rows(model, second.height);
    let (agents, log) = cut_below(second, agents);
    let main = main_view(model, &[View::Agents, View::Events]);
    vec![
        placed(Pane::View(main), plan),
        placed(Pane::Detail, detail),
        placed(Pane::View(View::Agents), agents),
        placed(Pane::Log, log),
        placed(Pane::View(View::Events), bottom),
    ]
}

fn huge(model: &Model, area: Rect) -> Vec<Placed> {
    let (left, rest) = cut_right(area, area.width / 3);
    let (middle, right) = cut_right(rest, rest.width * 60 / 100);
    let (attention, plan) = cut_below(left, 14);
    let (plan, graph) = cut_below(plan, plan.height - 12);
    let (agents, log) = cut_below(middle, agents_rows(model, middle.height));
    let (detail, events) = cut_below(right, right.height / 2);
    let (events, usage) = cut_below(events, events.height - 9);
    let main = main_view(model, &[View::Attention, View::Agents, View::Events]);
    let others = super::wall::others(model).next().is_some();
    let (log, wall) = if others { cut_below(log, log.height / 2) } else { (log, Rect { height: 0, ..log }) };
    let wall = others.then(|| placed(Pane::Wall, wall));
    let panes = vec![
        placed(Pane::View(View::Attention), attention),
        placed(Pane::View(main), plan),
        placed(Pane::View(View::Agents), agents),
        placed(Pane::Log, log),
        placed(Pane::Detail, detail),
        placed(Pane::View(View::Events), events),
        placed(Pane::Graph, graph),
        placed(Pane::Usage, usage),
    ];
    panes.into_iter().chain(wall).collect()
}

/// As many as there are, but no more than a third.
fn agents_rows(model: &Model, height: u16) -> u16 {
    let wanted = u16::try_from(model.agents().len()).unwrap_or(u16::MAX).saturating_add(2);
    wanted.clamp(4, (height / 3).max(4))
}

fn cut_below(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    let lower = Rect { y: area.y + height, height: area.height - height, ..area };
    (Rect { height, ..area }, lower)
}

/// One column between them is for the line.
fn cut_right(area: Rect, width: u16) -> (Rect, Rect) {
    let width = width.min(area.width.saturating_sub(2));
    let right = Rect { x: area.x + width + 1, width: area.width - width - 1, ..area };
    (Rect { width, ..area }, right)
}

/// Rows of the focused view, or of what covers it.
pub fn page(model: &Model) -> u16 {
    if model.full.is_some() {
        return middle(model).height.saturating_sub(1);
    }
    let focused = |placed: &&Placed| placed.pane == Pane::View(model.view);
    panes(model).iter().find(focused).map_or(1, |placed| placed.body.height)
}

pub fn log_room(model: &Model) -> u16 {
    log_area(model).height
}

pub fn log_area(model: &Model) -> Rect {
    let all = middle(model);
    if model.full == Some(Full::Log) {
        return Rect { y: all.y + 1, height: all.height.saturating_sub(1), ..all };
    }
    let panes = panes(model);
    let pane = panes.iter().find(|placed| placed.pane == Pane::Log);
    pane.map_or(Rect { height: 1, ..all }, |placed| placed.body)
}

/// How far down what covers the board can be scrolled.
pub fn scroll_max(model: &Model) -> usize {
    let lines = match model.full {
        // There a line is selected, not scrolled to.
        Some(Full::Diff) => return super::diff::length(model).saturating_sub(1),
        Some(Full::Help) => super::help::lines(model).len(),
        Some(Full::Graph) => super::graph::length(model),
        Some(Full::Operation) => super::operations::length(model),
        _ => 0,
    };
    lines.saturating_sub(usize::from(page(model)))
}

/// The pane at this place, and the line in it.
pub fn at(model: &Model, column: u16, row: u16) -> Option<(Pane, u16)> {
    let within =
        |area: &Rect| (area.x..area.right()).contains(&column) && (area.y..area.bottom()).contains(&row);
    let panes = panes(model);
    if let Some(tabs) = panes.iter().find(|placed| placed.pane == Pane::Tabs && within(&placed.title)) {
        return Some((tabs.pane, 0));
    }
    let found = panes.iter().find(|placed| within(&placed.body))?;
    let line = row - found.body.y;
    if let Pane::View(view) = found.pane
        && line >= list_rows(model, view, found.body)
    {
        return None;
    }
    Some((found.pane, line))
}

/// Rows of a view that are its list; below them may stand more of what is selected.
fn list_rows(model: &Model, view: View, body: Rect) -> u16 {
    match view {
        View::Attention => super::lists::attention_rows(model, body),
        View::Operations => super::operations::list_rows(model, body),
        _ => body.height,
    }
}

/// The first line of a view that is on the screen: the selected one is always among them.
pub fn first_shown(model: &Model, view: View) -> usize {
    let panes = panes(model);
    let Some(placed) = panes.iter().find(|placed| placed.pane == Pane::View(view)) else { return 0 };
    let room = usize::from(list_rows(model, view, placed.body).max(1));
    let (at, length) = (model.cursor(view), model.length(view));
    at.saturating_sub(room / 2).min(length.saturating_sub(room))
}

pub fn tab_at(model: &Model, column: u16) -> Option<View> {
    let mut x = 1;
    View::ALL.into_iter().find(|view| {
        let width = u16::try_from(super::tab(model, *view).chars().count()).unwrap_or_default();
        let hit = (x..x + width).contains(&column);
        x += width + 2;
        hit
    })
}
