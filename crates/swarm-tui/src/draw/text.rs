//! Pieces of lines, cut to the cells they have.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::theme::{Role, Theme};

pub fn span(theme: Theme, role: Role, text: &str) -> Span<'static> {
    let text: String = text.chars().filter(|c| !is_harmful(*c)).collect();
    Span::styled(theme.plain(&text), theme.style(role))
}

/// Moves the cursor, or lets a text read differently from what it is.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most so many cells; what is left out is marked, and what could do harm is a blank.
pub fn cut(text: &str, width: usize) -> String {
    let text: String = text.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
    if text.width() <= width {
        return text;
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in text.chars() {
        let cells = c.width().unwrap_or(0);
        if used + cells + 1 > width {
            break;
        }
        out.push(c);
        used += cells;
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// The same, filled with blanks to exactly so many cells.
pub fn pad(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let blanks = width.saturating_sub(text.width());
    text + &" ".repeat(blanks)
}

/// The end of a text that has at most so many cells.
pub fn tail(text: &str, width: usize) -> &str {
    let mut used = 0;
    let fits = |(_, c): &(usize, char)| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let first = text.char_indices().rev().take_while(fits).last();
    first.map_or("", |(at, _)| &text[at..])
}

/// The same as `wrapped`, in at most so many lines; the last one is marked where there is more.
pub fn wrapped_to(text: &str, width: usize, lines_max: usize) -> Vec<String> {
    let mut lines = wrapped(text, width);
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), width);
        }
    }
    lines
}

/// In lines of so many cells, broken between words where that is possible.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let paragraph = paragraph.replace(char::is_whitespace, " ");
        let indent: String = paragraph.chars().take_while(|c| *c == ' ').collect();
        let mut line = indent.clone();
        // Blanks before the next word: those of a table keep its columns.
        let mut blanks = 0;
        for word in paragraph[indent.len()..].split(' ') {
            if word.is_empty() {
                blanks += 1;
                continue;
            }
            if line.width() + blanks + word.width() > width && line.len() > indent.len() {
                lines.push(std::mem::replace(&mut line, indent.clone()));
            }
            if line.len() > indent.len() {
                line.extend(std::iter::repeat_n(' ', blanks));
            }
            line.push_str(&cut(word, width.saturating_sub(indent.len())));
            blanks = 1;
        }
        lines.push(line);
    }
    lines
}

pub fn put(frame: &mut Frame<'_>, area: Rect, line: Line<'_>) {
    let area = area.intersection(frame.area());
    if area.width > 0 && area.height > 0 {
        frame.buffer_mut().set_line(area.x, area.y, &line, area.width);
    }
}

/// Lines from the top of an area on.
pub fn put_all(frame: &mut Frame<'_>, area: Rect, lines: impl IntoIterator<Item = Line<'static>>) {
    for (at, line) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        put(frame, Rect { y: area.y + at as u16, height: 1, ..area }, line);
    }
}

/// `─ title ──────`
pub fn rule(theme: Theme, title: &str, width: u16, role: Role) -> Line<'static> {
    let title = cut(title, usize::from(width).saturating_sub(6));
    let title = theme.plain(&title);
    let rest = usize::from(width).saturating_sub(title.width() + 3);
    Line::from(vec![
        span(theme, Role::Dim, &format!("{} ", theme.rule())),
        span(theme, role, &title),
        span(theme, Role::Dim, &format!(" {}", theme.rule().repeat(rest))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_filled_and_broken_by_cells() {
        assert_eq!((cut("héllo", 5).as_str(), cut("héllo!", 5).as_str()), ("héllo", "héll…"));
        assert_eq!(pad("ab", 4), "ab  ");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("a\u{1b}b", 9), "a b");
        assert_eq!(wrapped("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!((tail("abc", 2), tail("日本語", 5), tail("日", 1)), ("bc", "本語", ""));
        assert_eq!(wrapped_to("one two three four", 9, 2), ["one two", "three …"]);
        assert_eq!(wrapped_to("one two three", 9, 2), ["one two", "three"]);
        assert_eq!(wrapped("  long line here now", 11), ["  long line", "  here now"]);
        assert_eq!(wrapped("id   state\n1.1  ready\tnow", 16), ["id   state", "1.1  ready now"]);
    }
}
