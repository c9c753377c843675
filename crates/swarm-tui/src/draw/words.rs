//! A changed line of a diff, with the words marked that differ from the line it stands for.

use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use super::text::{cut, span};
use crate::theme::{Role, Theme};

/// What an old line and the new one in its place have in common at both ends, in whole words: the rest is marked.
fn changed_part(one: &str, other: &str) -> Option<(usize, usize)> {
    let blank_or_end = |text: &str, at: usize| {
        at == 0
            || at == text.len()
            || !text[..at].ends_with(char::is_alphanumeric)
            || !text[at..].starts_with(char::is_alphanumeric)
    };
    let same = |(a, b): &(char, char)| a == b;
    let mut head: usize = one.chars().zip(other.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while !(blank_or_end(one, head) && blank_or_end(other, head)) {
        head = one[..head].char_indices().next_back()?.0;
    }
    let (left, right) = (&one[head..], &other[head..]);
    let mut tail: usize =
        left.chars().rev().zip(right.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while tail > 0 && !(blank_or_end(one, one.len() - tail) && blank_or_end(other, other.len() - tail)) {
        tail -= one[one.len() - tail..].chars().next()?.len_utf8();
    }
    // Lines with next to nothing in common have no mark: all of it is another text.
    let common = head + tail;
    (common * 3 >= one.trim().len().min(other.trim().len()) && common > 0).then(|| (head, one.len() - tail))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_that_differ_are_marked_and_other_lines_are_not() {
        let part =
            |one: &str, other: &str| changed_part(one, other).map(|(from, to)| one[from..to].to_owned());
        assert_eq!(part("One for all tasks.", "One for each task."), Some("all tasks".into()));
        assert_eq!(part("let total = count;", "let total = counted;"), Some("count".into()));
        assert_eq!(part("größe = 1", "größe = 2"), Some("1".into()));
        assert_eq!(part("alpha", "omega beta"), None);
    }
}
