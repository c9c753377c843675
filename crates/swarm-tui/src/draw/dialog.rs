//! Dialogs: a box with a head that stays, a body that scrolls, and the keys that answer.

mod fields;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Clear};
use swarm_protocol::board::CheckpointRow;

use super::panel;
use super::text::{cut, pad, put, put_all, span, wrapped};
use crate::dialog::{Dialog, Kind, Shown, Weight};
use crate::model::Model;
use crate::said;
use crate::theme::{Role, Theme};
use crate::typed::Does;
pub(super) use fields::typed;
use fields::with_field;

/// Wider lines are not read well.
const WIDTH_MAX: u16 = 96;

pub struct Parts {
    pub title: String,
    pub head: Vec<Line<'static>>,
    pub body: Vec<Line<'static>>,
    pub foot: String,
}

/// Cells and rows that the scrolling part has.
pub fn room(model: &Model) -> (u16, u16) {
    let width = model.size.0.saturating_sub(2).min(WIDTH_MAX).saturating_sub(4);
    let head = model.dialog.as_ref().map_or(0, |dialog| parts(model, dialog, width).head.len());
    (width, rows_for_body(model, head))
}

fn rows_for_body(model: &Model, head: usize) -> u16 {
    // Two for the border, one for the keys.
    model.size.1.saturating_sub(3 + head as u16).max(1)
}

pub fn scroll_max(model: &Model, dialog: &Dialog) -> usize {
    let width = model.size.0.saturating_sub(2).min(WIDTH_MAX).saturating_sub(4);
    let parts = parts(model, dialog, width);
    parts.body.len().saturating_sub(usize::from(rows_for_body(model, parts.head.len())))
}

pub fn draw(model: &Model, dialog: &Dialog, frame: &mut Frame<'_>) {
    let theme = model.theme;
    let (width, rows) = room(model);
    let parts = parts(model, dialog, width);
    let body_rows = (parts.body.len() as u16).min(rows);
    let height = parts.head.len() as u16 + body_rows + 3;
    let (columns, lines) = model.size;
    let outer = (width + 4).min(columns);
    let area = Rect::new(
        columns.saturating_sub(outer) / 2,
        lines.saturating_sub(height) / 2,
        outer,
        height.min(lines),
    );
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(span(
        theme,
        Role::Title,
        &format!(" {} ", cut(&parts.title, usize::from(width))),
    ));
    let block = if theme.ascii { block.border_set(ASCII) } else { block.border_type(BorderType::Plain) };
    frame.render_widget(block, area);
    let inner = Rect::new(area.x + 2, area.y + 1, width, height.saturating_sub(2).min(lines));
    let head = parts.head.len() as u16;
    put_all(frame, Rect { height: head, ..inner }, parts.head);
    let body = Rect { y: inner.y + head, height: body_rows, ..inner };
    let more = parts.body.len().saturating_sub(dialog.scroll + usize::from(body_rows));
    put_all(frame, body, parts.body.into_iter().skip(dialog.scroll));
    // Keys stand there when they are listened to.
    let keys = match more {
        _ if !dialog.listens(model.now) => String::new(),
        _ if dialog.over => "Another plan is here now, this was about the last one · Esc close".to_owned(),
        0 => parts.foot,
        n => format!("↓ {n} more: PgDn · {}", parts.foot),
    };
    let foot = Rect { y: body.bottom(), height: 1, ..inner };
    let role = if dialog.armed() { Role::Key } else { Role::Dim };
    put(frame, foot, Line::from(span(theme, role, &cut(&keys, usize::from(width)))));
}

const ASCII: ratatui::symbols::border::Set<'static> = ratatui::symbols::border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

pub fn plain(theme: Theme, text: &str) -> Line<'static> {
    Line::from(span(theme, Role::Plain, text))
}

fn parts(model: &Model, dialog: &Dialog, width: u16) -> Parts {
    let wide = usize::from(width);
    match &dialog.kind {
        Kind::Confirm { title, weight, .. } => Parts {
            title: title.clone(),
            head: vec![],
            body: looked(model, dialog, wide),
            foot: confirm_keys(dialog, *weight),
        },
        Kind::Typed { line, does, .. } => Parts {
            title: format!("swarm {line}"),
            head: vec![],
            body: looked(model, dialog, wide),
            foot: match does {
                Does::Changes => confirm_keys(dialog, Weight::Moves),
                _ => "Esc close".into(),
            },
        },
        Kind::Redirect { .. } => redirect(model, dialog, wide),
        Kind::Checkpoints { list, selected } => checkpoints(model, dialog, (list, *selected), wide),
        Kind::Pause => panel::pause(model),
        Kind::Quit => panel::quit(model),
        Kind::Panel => panel::panel(model, wide),
        Kind::Palette { .. } => panel::palette(model, wide),
        _ => with_field(model, dialog, wide),
    }
}

/// What the command would do, or why it would be refused.
fn looked(model: &Model, dialog: &Dialog, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    match &dialog.shown {
        Shown::NotAsked => vec![],
        Shown::Awaited => vec![Line::from(span(theme, Role::Dim, "Looking at what it would do"))],
        Shown::Refused(error) => [(Role::Bad, &error.message), (Role::Plain, &error.hint)]
            .into_iter()
            .flat_map(|(role, text)| wrapped(text, width).into_iter().map(move |line| (role, line)))
            .map(|(role, line)| Line::from(span(theme, role, &line)))
            .collect(),
        Shown::Told(text) => {
            let lines = text.lines().flat_map(|line| wrapped(line, width));
            lines.map(|line| plain(theme, &line)).collect()
        }
        Shown::Arrived(view) => {
            let lines = said::preview(view);
            let lines = lines.iter().flat_map(|line| wrapped(line, width));
            let role = |line: &str| {
                if line.ends_with(':') && !line.starts_with(' ') { Role::Bold } else { Role::Plain }
            };
            lines.map(|line| Line::from(span(theme, role(&line), &line))).collect()
        }
    }
}

fn confirm_keys(dialog: &Dialog, weight: Weight) -> String {
    match (&dialog.shown, weight) {
        (Shown::Refused(_), _) => "Esc close".into(),
        (Shown::Awaited, _) => "Esc cancel".into(),
        (Shown::Arrived(_) | Shown::Told(_), Weight::Moves) if !dialog.seen_end => {
            "then Enter · Esc cancel".into()
        }
        _ => "Enter or y confirm · Esc or n cancel".into(),
    }
}

fn redirect(model: &Model, dialog: &Dialog, width: usize) -> Parts {
    let theme = model.theme;
    let Kind::Redirect { task, choices, selected } = &dialog.kind else {
        return Parts { title: String::new(), head: vec![], body: vec![], foot: String::new() };
    };
    let agent = model.agent_of(task);
    let name = agent.map(|agent| agent.agent.agent.to_string()).unwrap_or_default();
    let title = model.row(task).map(|row| row.row.title.clone()).unwrap_or_default();
    let at = agent.map_or_else(String::new, |agent| {
        let percent = agent.news.as_ref().and_then(|news| news.percent);
        let percent = percent.map(|n| format!(", {n}% complete")).unwrap_or_default();
        format!(" (iteration {}/{}{percent})", agent.agent.iteration, agent.iterations_max)
    });
    let mut head = vec![plain(theme, &cut(&format!("Now: {task} {title}{at}"), width)), Line::default()];
    match choices {
        None => head.push(Line::from(span(theme, Role::Dim, "Looking for ready tasks"))),
        Some(list) if list.is_empty() => head.push(plain(theme, "No other task is ready")),
        Some(list) => {
            head.push(Line::from(span(theme, Role::Bold, &format!("Ready tasks ({})", list.len()))));
            let first = selected.saturating_sub(3).min(list.len().saturating_sub(6));
            for (n, choice) in list.iter().enumerate().skip(first).take(6) {
                let unblocks = match choice.unblocks.len() {
                    0 => "unblocks none".to_owned(),
                    n => format!("unblocks {n}"),
                };
                let tags = choice.tags.join(" ");
                let best = if n == 0 { " · recommended" } else { "" };
                let text = format!(
                    "{} {} phase {}  {}  {unblocks}{best}",
                    pad(choice.task.as_str(), 6),
                    pad(&choice.title, width / 3),
                    choice.phase,
                    pad(&tags, 10)
                );
                let mark = if n == *selected { theme.either("›", ">") } else { " " };
                let role = if n == *selected { Role::Selected } else { Role::Plain };
                head.push(Line::from(span(theme, role, &pad(&format!("{mark} {text}"), width))));
            }
            if let Some(first) = list.first() {
                let text = format!("Recommended: {} ({})", first.task, first.why);
                head.push(Line::from(span(theme, Role::Dim, &text)));
            }
        }
    }
    head.push(Line::default());
    let some = choices.as_ref().is_some_and(|list| !list.is_empty());
    let foot = match some {
        true if dialog.armed() => "j k select · Enter redirect · Esc cancel",
        true => "j k select · Esc cancel",
        false => "Esc cancel",
    };
    Parts { title: format!("Redirect {name}"), head, body: looked(model, dialog, width), foot: foot.into() }
}

/// The rollback menu.
fn checkpoints(
    model: &Model,
    dialog: &Dialog,
    (list, selected): (&[CheckpointRow], usize),
    width: usize,
) -> Parts {
    let theme = model.theme;
    let mut head = Vec::new();
    if let Some(board) = &model.board {
        let counts = &board.status.counts;
        let text = format!(
            "{}: {} done, {} in progress, {} to come",
            if model.past.is_some() { "Then" } else { "Now" },
            counts.done,
            counts.active + counts.review + counts.merging,
            counts.ready + counts.waiting
        );
        head.extend([plain(theme, &text), Line::default()]);
        let count = list.len();
        let rows = if model.size.1 >= 36 { 8 } else { 4 };
        let first = selected.saturating_sub(rows / 2).min(count.saturating_sub(rows));
        for n in first..(first + rows).min(count) {
            let text =
                list.get(n).map(|row| super::lists::checkpoint_line(model, n, row)).unwrap_or_default();
            let role = if n == selected { Role::Selected } else { Role::Plain };
            head.push(Line::from(span(theme, role, &pad(&text, width))));
        }
        if count == 0 {
            let past = "No checkpoint was there yet, so there is nothing to roll back to";
            let none = if model.past.is_some() { past } else { "No checkpoint yet; n makes one" };
            head.push(plain(theme, none));
        }
        head.push(Line::default());
    }
    let new = if model.past.is_some() { "" } else { " · n new" };
    let foot = match &dialog.shown {
        Shown::Arrived(_) if !dialog.seen_end => {
            format!("then Enter rolls back · j k select{new} · Esc close")
        }
        Shown::Arrived(_) => format!("j k select · Enter roll back{new} · Esc close"),
        _ => format!("j k select{new} · Esc close"),
    };
    let title = match model.past {
        Some(at) => format!("Roll back to a checkpoint from before record {at}"),
        None => "Roll back to a checkpoint".into(),
    };
    Parts { title, head, body: looked(model, dialog, width), foot }
}
