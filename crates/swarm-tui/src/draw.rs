//! The model as a picture. Pure: the same model is the same screen.

pub mod detail;
pub mod dialog;
pub mod diff;
pub mod footer;
pub mod graph;
pub mod header;
pub mod help;
pub mod layout;
mod lists;
pub mod operations;
mod panel;
pub mod log;
mod plan;
pub mod text;
pub mod usage;
pub mod wall;
mod words;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::input::Link;
use crate::keys::Action;
use crate::model::{Full, Model, View};
use crate::theme::Role;
use layout::{Pane, Placed, Size};
use text::{put, rule, span};

pub fn draw(model: &Model, frame: &mut Frame<'_>) {
    let (columns, rows) = model.size;
    if columns == 0 || rows < 4 {
        return;
    }
    header::draw(model, frame);
    match (&model.board, model.full) {
        (_, Some(Full::Help)) => help::draw(model, frame, layout::middle(model)),
        (None, _) => nothing_yet(model, frame),
        (_, Some(Full::Log)) => log::full(model, frame, layout::middle(model)),
        (_, Some(Full::Graph)) => graph::full(model, frame, layout::middle(model)),
        (_, Some(Full::Usage)) => usage::full(model, frame, layout::middle(model)),
        (_, Some(Full::Wall)) => wall::full(model, frame, layout::middle(model)),
        (_, Some(Full::Operation)) => operations::full(model, frame, layout::middle(model)),
        (_, Some(Full::Diff)) => diff::draw(model, frame, layout::middle(model)),
        (_, None) => board(model, frame),
    }
    footer::draw(model, frame);
    if let Some(open) = &model.dialog {
        dialog::draw(model, open, frame);
    }
}

fn nothing_yet(model: &Model, frame: &mut Frame<'_>) {
    let area = layout::middle(model);
    let lines: Vec<String> = match &model.trouble {
        Some(error) => vec![error.message.clone(), error.hint.clone()],
        None => vec!["Looking at the ledger".into()],
    };
    for (at, line) in lines.iter().enumerate().take(usize::from(area.height)) {
        let row = Rect { y: area.y + at as u16, height: 1, ..area };
        put(frame, row, Line::from(format!(" {}", model.theme.plain(line))));
    }
}

fn board(model: &Model, frame: &mut Frame<'_>) {
    if layout::size(model) == Size::Tiny {
        return;
    }
    for placed in layout::panes(model) {
        pane(model, placed, frame);
    }
}

fn pane(model: &Model, placed: Placed, frame: &mut Frame<'_>) {
    let area = placed.body;
    // A line between panes that stand side by side.
    if placed.title.x > 0 {
        let x = placed.title.x - 1;
        for y in placed.title.y..area.bottom() {
            put(frame, Rect::new(x, y, 1, 1), Line::from(model.theme.either("│", "|")));
        }
    }
    match placed.pane {
        Pane::Tabs => tabs(model, frame, placed.title),
        Pane::View(view) => {
            titled(model, frame, placed.title, &view_title(model, view), view == model.view);
            match view {
                View::Plan => plan::draw(model, frame, area),
                View::Attention => lists::attention(model, frame, area),
                View::Agents => lists::agents(model, frame, area),
                View::Events => lists::events(model, frame, area),
                View::Checkpoints => lists::checkpoints(model, frame, area),
                View::Operations => operations::draw(model, frame, area),
            }
        }
        Pane::Log => {
            titled(model, frame, placed.title, &log::title(model), false);
            log::draw(model, frame, area);
        }
        Pane::Wall => {
            let title = format!("other agents · {} shows all logs", model.keys.first(Action::Wall));
            titled(model, frame, placed.title, &title, false);
            wall::draw(model, frame);
        }
        Pane::Graph => {
            let title =
                format!("what it waits for, what waits for it · {} all", model.keys.first(Action::Graph));
            titled(model, frame, placed.title, &title, false);
            graph::draw(model, frame, area);
        }
        Pane::Usage => {
            titled(model, frame, placed.title, &usage::title(model), false);
            usage::draw(model, frame, area);
        }
        Pane::Detail => {
            titled(model, frame, placed.title, &detail::title(model), false);
            detail::draw(model, frame, area);
        }
    }
}

fn view_title(model: &Model, view: View) -> String {
    let name = format!("{} {}", view.index() + 1, view.title());
    match view {
        View::Plan => match &model.filter {
            Some(filter) => format!(
                "{name} · filter: {}{}",
                filter.field.text(),
                if model.typing_filter { "_" } else { "" }
            ),
            None => name,
        },
        View::Agents => {
            let slots = model.board.as_ref().map_or(0, |board| u64::from(board.status.profile.slots()));
            let free = slots.saturating_sub(model.agents().len() as u64);
            format!("{name} · {} free", crate::said::count(free, "slot"))
        }
        View::Events => {
            let hidden = model.past_events().count() - model.shown_events().count();
            if hidden == 0 {
                name
            } else {
                format!(
                    "{name} · machinery hidden ({hidden}) · {} shows",
                    model.keys.first(Action::Machinery)
                )
            }
        }
        View::Attention if model.length(View::Attention) > 0 && model.past.is_none() => {
            format!("{name} · a digit chooses")
        }
        View::Checkpoints if model.length(view) > 0 => {
            format!("{name} · {} looks at a rollback", model.keys.first(Action::Open))
        }
        View::Operations if model.length(view) > 0 => {
            format!("{name} · {} shows all of one", model.keys.first(Action::Open))
        }
        _ => name,
    }
}

/// A rule with a name in it; the focused one is bright.
fn titled(model: &Model, frame: &mut Frame<'_>, area: Rect, title: &str, focused: bool) {
    let role = if focused { Role::Title } else { Role::Dim };
    put(frame, area, rule(model.theme, title, area.width, role));
}

/// `2 PLAN` of the tabs; the focused one in capitals, so that it is seen without colour.
pub fn tab(model: &Model, view: View) -> String {
    let count = match view {
        View::Attention | View::Agents => model.length(view),
        _ => 0,
    };
    let name = if view == model.view { view.title().to_uppercase() } else { view.title().to_owned() };
    let short = model.size.0 < 80;
    let name = if short && view != model.view { name.chars().take(3).collect() } else { name };
    match count {
        0 => format!("{} {name}", view.index() + 1),
        n => format!("{} {name} {n}", view.index() + 1),
    }
}

fn tabs(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let mut line = Line::from(" ");
    for view in View::ALL {
        let role = match view == model.view {
            true => Role::Title,
            false if view == View::Attention && model.length(view) > 0 => Role::NeedsYou,
            false => Role::Dim,
        };
        line.push_span(span(model.theme, role, &tab(model, view)));
        line.push_span("  ");
    }
    put(frame, area, line);
}

/// How the swarm is reached, where it is worth a word.
pub fn link_words(model: &Model) -> Option<String> {
    let key = model.keys.first(Action::Hint);
    let words = format!("no coordinator runs: this is the ledger; {key} or `swarm run` starts one");
    (model.link == Link::Offline).then_some(words)
}
