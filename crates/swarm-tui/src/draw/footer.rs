//! The last two lines: what became of the last wish, and the keys that would be accepted now.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::Verb;
use unicode_width::UnicodeWidthStr;

use super::text::{cut, pad, put, span};
use crate::keys::{self, Action, Binding};
use crate::model::{Full, Model, Said, Tone};
use crate::theme::Role;

pub fn draw(model: &Model, frame: &mut Frame<'_>) {
    let (width, rows) = model.size;
    put(frame, Rect::new(0, rows - 2, width, 1), said(model));
    put(frame, Rect::new(0, rows - 1, width, 1), hints(model));
}

fn said(model: &Model) -> Line<'static> {
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
    let foot = if can_undo { "z undo " } else { "" };
    let room = width.saturating_sub(foot.width() + 1);
    Line::from(vec![span(theme, role, &pad(&cut(&text, room), room + 1)), span(theme, Role::Key, foot)])
}

/// Bright: it would be accepted. Dim: pressed, it says why not and what would help.
fn hints(model: &Model) -> Line<'static> {
    let width = usize::from(model.size.0);
    if let Some(full) = model.full {
        let text = match full {
            Full::Log => " j k scroll  G follow  [ ] tool calls  w wrap  y copy  Esc back",
            Full::Diff => " j k move  [ ] hunks  { } files  Enter note at this line  v verdict  Esc back",
            Full::Help => " j k scroll  Esc back",
        };
        return Line::from(span(model.theme, Role::Key, &cut(text, width)));
    }
    if model.typing_filter {
        let text = " type to filter: words, stage:review, tag:docs, !not   Enter keep   Esc clear";
        return Line::from(span(model.theme, Role::Key, &cut(text, width)));
    }
    let all = "? all ";
    let mut line = Line::from(" ");
    let mut room = width.saturating_sub(all.width() + 1);
    // What would be accepted stands before what would not, so that a narrow screen has the useful ones.
    let (open, shut): (Vec<&Binding>, Vec<&Binding>) =
        keys::footer().into_iter().filter(|b| b.action != Action::Help).partition(|b| is_open(model, b));
    for (binding, role) in open.iter().map(|b| (b, Role::Key)).chain(shut.iter().map(|b| (b, Role::Dim))) {
        let word = word(model, binding);
        let cells = binding.shown.width() + word.width() + 3;
        if cells > room {
            continue;
        }
        room -= cells;
        line.push_span(span(model.theme, role, binding.shown));
        let word_role = if role == Role::Key { Role::Plain } else { Role::Dim };
        line.push_span(span(model.theme, word_role, &format!(" {word}  ")));
    }
    line.push_span(" ".repeat(room));
    line.push_span(span(model.theme, Role::Key, "?"));
    line.push_span(span(model.theme, Role::Plain, " all "));
    line
}

fn is_open(model: &Model, binding: &Binding) -> bool {
    match binding.verb {
        Some(verb) => model.past.is_none() && model.knows(verb) && model.refusal(verb).is_none(),
        None => match binding.action {
            Action::Log => model.log.run.is_some(),
            Action::Diff => model.looking_at.is_some(),
            Action::Pause | Action::Checkpoints => model.past.is_none(),
            _ => true,
        },
    }
}

fn word(model: &Model, binding: &Binding) -> &'static str {
    match binding.action {
        Action::Pause if model.is_paused() && model.running() == 0 => "resume",
        Action::Pause if model.is_paused() => "force",
        _ => binding.word,
    }
}
