//! The last two lines: what became of the last wish, and the keys that would be accepted now.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::Verb;
use unicode_width::UnicodeWidthStr;

use super::text::{cut, pad, put, put_all, span, wrapped_to};
use crate::keys::{Action, Binding};
use crate::model::{Full, Model, Said, Tone};
use crate::theme::Role;

/// A longer refusal is cut, and a screen that is not this high has one line for it.
const SAID_MAX: usize = 3;
const ROWS_FOR_MORE: u16 = 16;

pub fn draw(model: &Model, frame: &mut Frame<'_>) {
    let (width, rows) = model.size;
    let said = said(model);
    let first = rows.saturating_sub(said.len() as u16 + 1);
    put_all(frame, Rect::new(0, first, width, said.len() as u16), said);
    put(frame, Rect::new(0, rows - 1, width, 1), hints(model));
}

/// Rows of the foot: a refusal is read to its end.
pub fn rows(model: &Model) -> u16 {
    said(model).len() as u16 + 1
}

fn said(model: &Model) -> Vec<Line<'static>> {
    let theme = model.theme;
    let width = usize::from(model.size.0);
    let (role, text, undo) = match &model.said {
        Some(Said { tone, text, undo }) => {
            let (role, sign) = match tone {
                Tone::Done => (Role::Good, theme.either("✓", "v")),
                Tone::Refused => (Role::Bad, theme.either("✗", "x")),
                Tone::Note => (Role::Dim, theme.either("·", "-")),
            };
            (role, format!("{sign} {text}"), *undo)
        }
        None => match model.last_operation() {
            Some(op) => (Role::Dim, format!("{} {}", theme.either("✓", "v"), op.text), op.can_be_undone),
            None => (Role::Dim, String::new(), false),
        },
    };
    let can_undo = undo && model.refusal(Verb::Undo).is_none() && model.past.is_none();
    let foot = if can_undo { format!("{} undo ", model.keys.first(Action::Undo)) } else { String::new() };
    let room = width.saturating_sub(foot.width() + 1);
    if role == Role::Bad && text.width() > room && model.size.1 >= ROWS_FOR_MORE {
        let lines = wrapped_to(&text, width.saturating_sub(1), SAID_MAX);
        return lines.iter().map(|line| Line::from(span(theme, role, line))).collect();
    }
    vec![Line::from(vec![
        span(theme, role, &pad(&cut(&text, room), room + 1)),
        span(theme, Role::Key, &foot),
    ])]
}

/// Bright: it would be accepted. Dim: pressed, it says why not and what would help.
fn hints(model: &Model) -> Line<'static> {
    let width = usize::from(model.size.0);
    if model.typing_search {
        let text = " type to search: lines with all of the words are shown   Enter keep   Esc all";
        return Line::from(span(model.theme, Role::Key, &cut(text, width)));
    }
    if let Some(full) = model.full {
        return Line::from(span(model.theme, Role::Key, &cut(&covering(model, full), width)));
    }
    if model.typing_filter {
        let text = " type to filter: words, stage:review, tag:docs, !not   Enter keep   Esc clear";
        return Line::from(span(model.theme, Role::Key, &cut(text, width)));
    }
    let mut line = Line::from(" ");
    let all = all_keys(model);
    let mut room = width.saturating_sub(all.width() + 1);
    for (binding, role) in offered(model) {
        let word = word(model, binding);
        room -= cells(model, binding);
        line.push_span(span(model.theme, role, binding.shown));
        let word_role = if role == Role::Key { Role::Plain } else { Role::Dim };
        line.push_span(span(model.theme, word_role, &format!(" {word}  ")));
    }
    line.push_span(" ".repeat(room));
    let (key, word) = all.split_at(all.find(' ').unwrap_or_default());
    line.push_span(span(model.theme, Role::Key, key));
    line.push_span(span(model.theme, Role::Plain, word));
    line
}

/// The end of the last line.
fn all_keys(model: &Model) -> String {
    format!("{} all ", model.keys.first(Action::Help))
}

/// What can be done with what covers the board.
const IN_LOG: &[(&[Action], &str)] = &[
    (&[Action::Down, Action::Up], ""),
    (&[Action::Last], "follow"),
    (&[Action::PreviousMark, Action::NextMark], "calls"),
    (&[Action::Filter], "search"),
    (&[Action::Fold], "fold"),
    (&[Action::Wrap], "wrap"),
    (&[Action::Copy], "copy"),
    (&[Action::ShowBlock], "edit"),
    (&[Action::Back], "back"),
];
const IN_DIFF: &[(&[Action], &str)] = &[
    (&[Action::Down, Action::Up], ""),
    (&[Action::PreviousMark, Action::NextMark], "hunks"),
    (&[Action::PreviousFile, Action::NextFile], "files"),
    (&[Action::PreviousPart, Action::NextPart], "rounds"),
    (&[Action::Open], "note, fold"),
    (&[Action::Review], "verdict"),
    (&[Action::Back], "back"),
];
const IN_WALL: &[(&[Action], &str)] = &[(&[Action::Log], "one log"), (&[Action::Wall, Action::Back], "back")];
const IN_USAGE: &[(&[Action], &str)] = &[(&[Action::Back], "back")];
const IN_OPERATION: &[(&[Action], &str)] =
    &[(&[Action::Down, Action::Up], "scroll"), (&[Action::Open], "its task"), (&[Action::Back], "back")];
const IN_HELP: &[(&[Action], &str)] = &[(&[Action::Down, Action::Up], "scroll"), (&[Action::Back], "back")];

fn covering(model: &Model, full: Full) -> String {
    let hints = match full {
        Full::Log => IN_LOG,
        Full::Diff => IN_DIFF,
        Full::Help => IN_HELP,
        Full::Wall => IN_WALL,
        Full::Graph => IN_HELP,
        Full::Usage => IN_USAGE,
        Full::Operation => IN_OPERATION,
    };
    let mut text = String::from(" ");
    for (actions, word) in hints {
        let keys: Vec<String> = actions.iter().map(|action| model.keys.first(*action)).collect();
        text.push_str(&keys.join(" "));
        text.push_str(&if word.is_empty() { "  ".into() } else { format!(" {word}  ") });
    }
    text.truncate(text.trim_end().len());
    text
}

/// The keys that have room, in their order. What would be accepted stands before what would not, so that a narrow
/// screen has the useful ones.
fn offered(model: &Model) -> Vec<(&'static Binding, Role)> {
    let mut room = usize::from(model.size.0).saturating_sub(all_keys(model).width() + 1);
    let all = if model.past.is_some() { model.keys.footer_of_the_past() } else { model.keys.footer() };
    let (open, shut): (Vec<&Binding>, Vec<&Binding>) = all
        .into_iter()
        .filter(|b| b.action != Action::Help && !b.keys.is_empty())
        .partition(|b| is_open(model, b));
    let all = open.into_iter().map(|b| (b, Role::Key)).chain(shut.into_iter().map(|b| (b, Role::Dim)));
    let fits = |(binding, _): &(&'static Binding, Role)| {
        let cells = cells(model, binding);
        let fits = cells <= room;
        room -= if fits { cells } else { 0 };
        fits
    };
    all.filter(fits).collect()
}

fn cells(model: &Model, binding: &Binding) -> usize {
    binding.shown.width() + word(model, binding).width() + 3
}

/// What stands at this column of the last line.
pub fn at(model: &Model, column: u16) -> Option<Action> {
    if model.full.is_some() || model.typing_filter {
        return None;
    }
    let (width, column) = (usize::from(model.size.0), usize::from(column));
    if column + all_keys(model).width() >= width {
        return Some(Action::Help);
    }
    let mut x = 1;
    let found = offered(model).into_iter().find(|(binding, _)| {
        let next = x + cells(model, binding);
        let hit = (x..next.saturating_sub(2)).contains(&column);
        x = next;
        hit
    });
    found.map(|(binding, _)| binding.action)
}

fn is_open(model: &Model, binding: &Binding) -> bool {
    match binding.verb {
        Some(verb) => model.knows(verb) && model.refusal(verb).is_none(),
        None => match binding.action {
            Action::Log => model.log.run.is_some(),
            Action::Diff => model.looking_at.is_some(),
            _ => true,
        },
    }
}

fn word(model: &Model, binding: &Binding) -> &'static str {
    match binding.action {
        Action::Pause if model.is_paused() && model.running() == 0 => "resume",
        Action::Pause if model.is_paused() => "force",
        Action::Checkpoints if model.past.is_some() => "roll back to here",
        Action::Present => "now",
        Action::Full => "log",
        _ => binding.word,
    }
}
