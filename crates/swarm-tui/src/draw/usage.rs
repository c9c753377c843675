//! Tasks that are left and money spent, over time.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::over_time::MomentView;
use swarm_protocol::time::Timestamp;

use super::layout::{self, Pane};
use super::text::{cut, pad, put, put_all, rule, span};
use crate::model::{Full, Model};
use crate::said::{clock, moment, money, spent, tokens};
use crate::theme::Role;

/// Cells of what stands at the left of a chart.
const SCALE: usize = 9;

/// Parts of a cell, from the least to all of it.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

pub fn is_shown(model: &Model) -> bool {
    match model.full {
        Some(full) => full == Full::Usage,
        None => layout::panes(model).iter().any(|placed| placed.pane == Pane::Usage),
    }
}

pub fn title(model: &Model) -> String {
    let Some(board) = &model.board else { return "usage".into() };
    let (counts, usage) = (&board.status.counts, &board.status.usage);
    let used = usage.input_tokens + usage.output_tokens;
    format!("{} of {} done · {} · {} tokens", counts.done, counts.total, spent(usage), tokens(used))
}

pub fn full(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    put(frame, area, rule(model.theme, &title(model), area.width, Role::Title));
    draw(model, frame, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let dim = |text: &str| Line::from(span(model.theme, Role::Dim, text));
    let moments = match &model.over_time {
        None => return put(frame, area, dim(" Looking")),
        Some(Err(error)) => return put(frame, area, dim(&format!(" {}", error.message))),
        Some(Ok(view)) => by_now(model, &view.moments),
    };
    let (Some(first), Some(last)) = (moments.first(), moments.last()) else {
        return put(frame, area, dim(" Nothing has happened yet"));
    };
    // Two charts and their common times; a low place has the tasks alone.
    let both = area.height >= 8;
    let rows = if both { (area.height - 3) / 2 } else { area.height.saturating_sub(2) };
    let end = model.clock().max(last.at);
    let has_cost = last.usage.cost_micros > 0;
    let columns = usize::from(area.width).saturating_sub(SCALE + 2);
    let series = |value: fn(&MomentView) -> u64| sampled(moments, (first.at, end), columns, value);
    let mut lines = vec![Line::from(span(model.theme, Role::Bold, " tasks left"))];
    lines.extend(chart(model, &series(open), usize::from(rows), Role::Works, |n| n.to_string()));
    if both {
        lines.push(Line::from(span(model.theme, Role::Bold, if has_cost { " spent" } else { " tokens" })));
        let spent = if has_cost { series(cost) } else { series(used) };
        let shown = |amount| if has_cost { money(amount) } else { tokens(amount) };
        lines.extend(chart(model, &spent, usize::from(rows), Role::Good, shown));
    }
    let (from, to) = (moment(first.at, end), clock(end));
    let gap = columns.saturating_sub(from.len() + to.len());
    lines.push(dim(&format!("{}{from}{}{to}", " ".repeat(SCALE + 1), " ".repeat(gap))));
    put_all(frame, area, lines);
}

/// In the past, what had been by then.
fn by_now<'a>(model: &Model, moments: &'a [MomentView]) -> &'a [MomentView] {
    match model.past {
        Some(_) => &moments[..moments.partition_point(|moment| moment.at <= model.clock())],
        None => moments,
    }
}

fn open(moment: &MomentView) -> u64 {
    moment.open
}

fn cost(moment: &MomentView) -> u64 {
    moment.usage.cost_micros
}

/// Where nobody says what it costs.
fn used(moment: &MomentView) -> u64 {
    moment.usage.input_tokens + moment.usage.output_tokens
}

/// What held at each of so many moments.
fn sampled(
    moments: &[MomentView],
    (from, to): (Timestamp, Timestamp),
    columns: usize,
    value: fn(&MomentView) -> u64,
) -> Vec<u64> {
    let span = to.0.saturating_sub(from.0);
    let at = |column: usize| from.0 + span * (column as u64 + 1) / (columns as u64).max(1);
    let held = |column: usize| {
        let after = moments.partition_point(|moment| moment.at.0 <= at(column));
        moments.get(after.saturating_sub(1)).map_or(0, value)
    };
    (0..columns).map(held).collect()
}

/// Columns of so many rows, the greatest value at the top.
fn chart(
    model: &Model,
    values: &[u64],
    rows: usize,
    role: Role,
    shown: impl Fn(u64) -> String,
) -> Vec<Line<'static>> {
    let theme = model.theme;
    let most = values.iter().copied().max().unwrap_or_default().max(1);
    let eighths = |value: u64| (value.saturating_mul(rows as u64 * 8).div_ceil(most)) as usize;
    let cell = |row: usize, value: u64| {
        let full = eighths(value).saturating_sub((rows - 1 - row) * 8).min(8);
        match theme.ascii {
            true if full >= 4 => "#",
            true => " ",
            false => EIGHTHS[full],
        }
    };
    let line = |row: usize| {
        let scale = if row == 0 { shown(most) } else { String::new() };
        let scale = format!("{}{}", " ".repeat(SCALE.saturating_sub(scale.len() + 1)), cut(&scale, SCALE));
        let bars: String = values.iter().map(|value| cell(row, *value)).collect();
        Line::from(vec![
            span(theme, Role::Dim, &pad(&scale, SCALE)),
            span(theme, Role::Dim, theme.either("│", "|")),
            span(theme, role, &bars),
        ])
    };
    (0..rows).map(line).collect()
}
