//! The tree of phases and tasks. Only the rows that are on the screen are built.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::{BoardRow, Group};
use swarm_protocol::view::PhaseView;

use super::layout;
use super::text::{cut, pad, put_all, span};
use crate::model::{Model, Node, View};
use crate::said::age;
use crate::theme::{Role, Theme};

/// Cells of a bar.
const BAR: u64 = 8;

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let nodes = model.nodes();
    let first = layout::first_shown(model, View::Plan);
    let shown = nodes.iter().skip(first).take(usize::from(area.height));
    let lines: Vec<Line<'static>> = shown.map(|node| line(model, node, usize::from(area.width))).collect();
    if lines.is_empty() {
        let text = if model.filter.is_some() {
            " No task fits the filter; Esc clears it"
        } else {
            " The plan has no tasks yet"
        };
        put_all(frame, area, [Line::from(span(model.theme, Role::Dim, text))]);
    }
    put_all(frame, area, lines);
}

fn line(model: &Model, node: &Node, width: usize) -> Line<'static> {
    let selected = model.node.as_ref() == Some(node);
    let line = match node {
        Node::Phase(id) => model
            .board
            .as_ref()
            .and_then(|board| board.status.phases.iter().find(|phase| phase.id == *id))
            .map(|phase| phase_line(model, phase, width)),
        Node::Task(id) => model.row(id).map(|row| task_line(model, row, selected, width)),
    };
    let mut line = line.unwrap_or_default();
    if selected && model.view == View::Plan {
        line = line.patch_style(model.theme.style(Role::Selected));
    } else if selected {
        line = line.patch_style(model.theme.style(Role::Bold));
    }
    line
}

fn phase_line(model: &Model, phase: &PhaseView, width: usize) -> Line<'static> {
    let theme = model.theme;
    let fold = match model.folded.contains(&phase.id) && model.filter.is_none() {
        true => theme.either("▸", "+"),
        false => theme.either("▾", "-"),
    };
    let done = (phase.done * BAR).checked_div(phase.total).unwrap_or_default();
    let full = theme.either("█", "#").repeat(done as usize);
    let empty = theme.either("░", ".").repeat((BAR - done) as usize);
    let end = if phase.complete { " complete" } else { "" };
    let right = format!("{full}{empty} {}/{}{end}", phase.done, phase.total);
    let name = columns(width).0 + 4;
    Line::from(vec![
        span(theme, Role::Bold, &pad(&format!("{fold} {}  {}", phase.id, phase.name), name)),
        span(theme, Role::Dim, &right),
    ])
}

/// Cells of the title, of the word, and of what follows.
fn columns(width: usize) -> (usize, usize, usize) {
    let word = 10;
    let title = (width.saturating_sub(word + 4) * 52 / 100).max(16).min(width.saturating_sub(word + 4));
    (title, word, width.saturating_sub(title + word + 4))
}

fn task_line(model: &Model, row: &BoardRow, selected: bool, width: usize) -> Line<'static> {
    let theme = model.theme;
    let (title, word, rest) = columns(width);
    let role = theme.role(row.group);
    let mark = if selected { theme.either("›", ">") } else { " " };
    let marked = if model.marked.contains(&row.row.id) { "*" } else { " " };
    let sent = model.sent.iter().any(|sent| sent.task.as_ref() == Some(&row.row.id));
    let said = if sent { "sent" } else { row.word.as_str() };
    Line::from(vec![
        format!("{}{marked}", theme.plain(mark)).into(),
        span(theme, role, &format!("{} ", theme.sign(row.group))),
        span(
            theme,
            dimmed(row.group),
            &(pad(&format!("{} {}", row.row.id, row.row.title), title.saturating_sub(1)) + " "),
        ),
        span(theme, role, &pad(said, word)),
        span(theme, dimmed(row.group), &cut(&detail(model, row, rest), rest)),
    ])
}

fn dimmed(group: Group) -> Role {
    if group == Group::Aside { Role::Dim } else { Role::Plain }
}

/// Who works on it and how far, or what it waits for.
fn detail(model: &Model, row: &BoardRow, room: usize) -> String {
    let Some(agent) = model.agent_of(&row.row.id) else { return warned(row, model.theme) };
    let news = agent.news.as_ref();
    let iteration = news.map_or(agent.agent.iteration, |news| news.iteration.max(agent.agent.iteration));
    let mut text = agent.agent.agent.to_string();
    if iteration > 0 {
        text.push_str(&format!("  {iteration}/{}", agent.iterations_max));
    }
    text.push_str(&format!("  {}", age(model.clock(), agent.agent.since)));
    if let Some(percent) = news.and_then(|news| news.percent) {
        text.push_str(&format!("  {percent}%"));
    }
    if agent.agent.held && room > text.len() + 6 {
        text.push_str("  held");
    }
    text
}

fn warned(row: &BoardRow, theme: Theme) -> String {
    let first = row.detail.lines().next().unwrap_or_default();
    match row.conflicts_with.first() {
        Some(conflict) => format!("{first} {} conflict with {}", theme.either("·", "-"), conflict.with),
        None => first.to_owned(),
    }
}
