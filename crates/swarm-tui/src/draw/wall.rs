//! The logs of several agents at once, each in a tile of its own with its newest lines.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::BoardAgent;

use super::layout::{self, Pane};
use super::log;
use super::text::{put, put_all, rule, span};
use crate::keys::Action;
use crate::model::{Full, Model};
use crate::said::{age, count};
use crate::theme::Role;

/// Cells and rows below which a tile is not read well.
const LEAST: (u16, u16) = (56, 7);
/// More of them are looked at by nobody.
const MOST: usize = 9;

/// Agents but the one whose log has a place of its own.
pub fn others(model: &Model) -> impl Iterator<Item = &BoardAgent> {
    model.agents().iter().filter(|agent| Some(&agent.agent.task) != model.looking_at.as_ref())
}

/// All agents, or those whose tasks are marked.
fn wanted(model: &Model) -> Vec<&BoardAgent> {
    let is_marked = |agent: &&BoardAgent| model.marked.contains(&agent.agent.task);
    let marked: Vec<&BoardAgent> = model.agents().iter().filter(is_marked).collect();
    if marked.is_empty() { model.agents().iter().collect() } else { marked }
}

/// Where the tiles are that fit, with their agents.
fn tiles<'a>(agents: &[&'a BoardAgent], area: Rect) -> Vec<(&'a BoardAgent, Rect)> {
    let fit = |cells: u16, least: u16| usize::from((cells / least).clamp(1, 3));
    let (most_columns, most_rows) = (fit(area.width, LEAST.0), fit(area.height, LEAST.1));
    let shown = agents.len().min(most_columns * most_rows).min(MOST);
    let columns = shown.div_ceil(most_rows).clamp(1, most_columns);
    let rows = shown.div_ceil(columns).max(1);
    let part = |from: u16, cells: u16, at: usize, of: usize| {
        let edge = |at: usize| from + (usize::from(cells) * at / of) as u16;
        (edge(at), edge(at + 1) - edge(at))
    };
    let place = |(n, agent): (usize, &&'a BoardAgent)| {
        let ((x, width), (y, height)) =
            (part(area.x, area.width, n % columns, columns), part(area.y, area.height, n / columns, rows));
        (*agent, Rect::new(x, y, width, height))
    };
    agents.iter().take(shown).enumerate().map(place).collect()
}

fn body(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

fn on_screen(model: &Model) -> Vec<(&BoardAgent, Rect)> {
    if model.board.is_none() {
        return vec![];
    }
    match model.full {
        Some(Full::Wall) => tiles(&wanted(model), body(layout::middle(model))),
        Some(_) => vec![],
        None => {
            let panes = layout::panes(model);
            let pane = panes.iter().find(|placed| placed.pane == Pane::Wall);
            pane.map_or_else(Vec::new, |placed| tiles(&others(model).collect::<Vec<_>>(), placed.body))
        }
    }
}

/// Those whose tiles are on the screen.
pub fn agents_on_screen(model: &Model) -> impl Iterator<Item = &BoardAgent> {
    on_screen(model).into_iter().map(|(agent, _)| agent)
}

pub fn full(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let all = wanted(model).len();
    let shown = on_screen(model).len();
    let mut title = format!("logs of {}", count(all as u64, "agent"));
    if shown < all {
        title.push_str(&format!(
            " · {shown} fit; {} marks tasks whose logs to show",
            model.keys.first(Action::Mark)
        ));
    }
    put(frame, area, rule(model.theme, &title, area.width, Role::Title));
    if all == 0 {
        put(frame, body(area), Line::from(span(model.theme, Role::Dim, " No agent is at work")));
    }
    draw(model, frame);
}

/// The tiles, wherever they have their place.
pub fn draw(model: &Model, frame: &mut Frame<'_>) {
    for (agent, area) in on_screen(model) {
        tile(model, frame, agent, area);
    }
}

fn tile(model: &Model, frame: &mut Frame<'_>, agent: &BoardAgent, area: Rect) {
    // One cell stays free between two tiles.
    let area = Rect { width: area.width.saturating_sub(1), ..area };
    let (view, news) = (&agent.agent, agent.news.as_ref());
    let iteration = news.map_or(view.iteration, |news| news.iteration.max(view.iteration));
    let heard = news.map(|news| format!(" · heard {}", age(model.clock(), news.heard))).unwrap_or_default();
    let held = if view.held { " · held" } else { "" };
    let at = format!("{iteration}/{}", agent.iterations_max);
    let title = format!("{} · {} · {at}{held}{heard}", view.agent, view.task);
    let is_selected = model.looking_at.as_ref() == Some(&view.task);
    let role = if is_selected { Role::Title } else { Role::Bold };
    put(frame, area, rule(model.theme, &title, area.width, role));
    let inner = body(area);
    let lines = model.wall.get(&view.run).map(|log| &log.lines);
    let newest = lines
        .into_iter()
        .flat_map(|lines| lines.range(lines.len().saturating_sub(usize::from(inner.height))..));
    let shown: Vec<Line<'static>> =
        newest.flat_map(|line| log::shown(model.theme, line, usize::from(inner.width), false)).collect();
    if shown.is_empty() {
        put(frame, inner, Line::from(span(model.theme, Role::Dim, " Nothing was said yet")));
    }
    put_all(frame, inner, shown);
}
