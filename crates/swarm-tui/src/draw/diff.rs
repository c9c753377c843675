//! What a task changes: unified, and side by side where the screen is wide enough.

mod rows;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::text::{cut, pad, put, put_all, rule, span};
use super::words::marked;
use crate::model::{Model, Part};
use crate::theme::Role;
use rows::{Row, partner, rows};
pub use rows::{file_at, head_at, length, marks, place, text_at};

/// From here on old and new stand side by side.
const SIDE_BY_SIDE: u16 = 160;

/// Which part of whose work it is, and between which commits.
fn title(model: &Model) -> String {
    let task = model.looking_at.as_ref().map(ToString::to_string).unwrap_or_default();
    let part = part_words(model);
    let Some(Ok(diff)) = &model.diff else { return format!("diff of {task}{part}") };
    let files = crate::said::count(marks(model, true).len() as u64, "file");
    let mixed = if diff.mixed { " · with what came from trunk" } else { "" };
    let (from, to) = (diff.from.short(), diff.to.short());
    format!("diff of {task}{part} · {files} · {from} to {to}{mixed}")
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let title = title(model);
    put(frame, area, rule(model.theme, &title, area.width, Role::Title));
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let lines: Vec<Line<'static>> = match &model.diff {
        None => vec![Line::from(" Looking")],
        Some(Err(error)) => vec![Line::from(format!(" {}", error.message))],
        Some(Ok(_)) => {
            let rows = rows(model);
            let room = usize::from(body.height);
            let first = model.scroll.saturating_sub(room / 2).min(rows.len().saturating_sub(room));
            let shown = rows.iter().enumerate().skip(first).take(room);
            let selected = |at: usize, line: Line<'static>| match at == model.scroll {
                true => line.patch_style(model.theme.style(Role::Selected)),
                false => line,
            };
            let mut lines: Vec<Line<'static>> = shown
                .map(|(at, row)| selected(at, line(model, row, partner(&rows, at), usize::from(body.width))))
                .collect();
            if rows.is_empty() {
                let of = if model.part == Default::default() { "The task" } else { "This part of the work" };
                lines.push(Line::from(format!(" {of} changes nothing")));
            }
            lines
        }
    };
    put_all(frame, body, lines);
}

fn line(model: &Model, row: &Row, other: Option<&str>, width: usize) -> Line<'static> {
    let theme = model.theme;
    let tabs = |text: &str| text.replace('\t', "    ");
    let one = |role: Role, sign: &str, text: &str| {
        Line::from(span(theme, role, &cut(&format!("{sign}{}", tabs(text)), width)))
    };
    match row {
        Row::File(name) => one(Role::Bold, "── ", name),
        Row::Hunk(text) => one(Role::Title, "", text),
        Row::Both(text) if model.size.0 >= SIDE_BY_SIDE => {
            let half = width / 2 - 2;
            let text = pad(&tabs(text), half);
            Line::from(span(theme, Role::Plain, &format!("  {text}│ {text}")))
        }
        Row::Both(text) => one(Role::Plain, "  ", text),
        Row::Old(text) => marked(theme, Role::Bad, ("- ", text), other, width),
        Row::New(text) => marked(theme, Role::Good, ("+ ", text), other, width),
        Row::Pair(old, new) => {
            let half = width / 2 - 2;
            let side = |sign: &str, text: Option<&str>, other: Option<&str>, role: Role| {
                let mut line = match text {
                    None => Line::default(),
                    Some(text) => marked(theme, role, (sign, text), other, half + 2),
                };
                let used = line.width();
                line.push_span(" ".repeat((half + 2).saturating_sub(used)));
                line.spans
            };
            let (old, new) = (old.as_deref(), new.as_deref());
            let (left, right) = (side("- ", old, new, Role::Bad), side("+ ", new, old, Role::Good));
            let bar = span(theme, Role::Plain, "│");
            Line::from([left, vec![bar], right].concat())
        }
        Row::Note(text) | Row::Folded(text) => one(Role::Dim, "  ", text),
    }
}

/// What stands behind the name of the task.
fn part_words(model: &Model) -> String {
    let all = model.rounds.len();
    match model.part {
        Part { since: Some(n), .. } => format!(" · since submission {n} of {all}"),
        Part { round: Some(n), .. } => format!(" · as submitted, {n} of {all}"),
        _ if all > 1 => format!(" · {all} submissions"),
        _ => String::new(),
    }
}
