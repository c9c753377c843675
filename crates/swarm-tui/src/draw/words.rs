//! A changed line of a diff, with the words marked that differ from the line it stands for.

use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use swarm_protocol::patch::changed_part;
use unicode_width::UnicodeWidthStr;

use super::text::{cut, span};
use crate::theme::{Role, Theme};

/// A changed line, with what differs from its partner marked.
pub fn marked(
    theme: Theme,
    role: Role,
    (sign, text): (&str, &str),
    other: Option<&str>,
    width: usize,
) -> Line<'static> {
    let tabs = |text: &str| text.replace('\t', "    ");
    let whole = || Line::from(span(theme, role, &cut(&format!("{sign}{}", tabs(text)), width)));
    let Some((from, to)) = other.and_then(|other| changed_part(text, other)) else { return whole() };
    let parts = [tabs(&text[..from]), tabs(&text[from..to]), tabs(&text[to..])];
    let mut room = width.saturating_sub(sign.width());
    let mark = Style::default().add_modifier(Modifier::UNDERLINED | Modifier::BOLD);
    let mut line = Line::from(span(theme, role, sign));
    for (at, part) in parts.iter().enumerate() {
        let part = cut(part, room);
        room -= part.width().min(room);
        let piece = span(theme, role, &part);
        line.push_span(if at == 1 { piece.patch_style(mark) } else { piece });
    }
    line
}
