//! Lines no wider than the place they are read in. Words, ids, hashes and commands to paste are never broken, so a single one of
//! them may still be wider; nothing is cut.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Narrower than this a terminal folds lines better than we do.
const WIDTH_MIN: usize = 20;

/// What a guide is read in, also by a pager: longer lines are hard to follow.
pub const PAGE: usize = 80;

/// The columns there are for lines on this stream: `COLUMNS`, or else those of the terminal. A pipe has no end to its lines.
pub fn columns(stream: impl AsFd + IsTerminal) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || {
        let size = stream.is_terminal().then(|| rustix::termios::tcgetwinsize(&stream).ok()).flatten()?;
        Some(usize::from(size.ws_col))
    };
    said.or_else(terminal).filter(|columns| *columns >= WIDTH_MIN)
}

/// The text with its long lines broken between words, if there is a width to keep to.
pub fn fit(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut fitted: String = text.lines().map(|line| line_in(line, width) + "\n").collect();
    if !text.ends_with('\n') {
        fitted.pop();
    }
    fitted
}

/// A page of Markdown: its sentences are broken, what is shown between fences is not.
pub fn page(text: &str) -> String {
    let (mut out, mut block, mut shown) = (String::new(), Vec::new(), false);
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        let as_it_is = shown || fence || line.starts_with('#');
        shown ^= fence;
        if as_it_is || line.trim().is_empty() || begins(line) {
            write_block(&std::mem::take(&mut block), &mut out);
        }
        match as_it_is || line.trim().is_empty() {
            true => out.extend([line, "\n"]),
            false => block.push(line),
        }
    }
    write_block(&block, &mut out);
    out
}

/// Whether a line is the first of a point or of a row.
fn begins(line: &str) -> bool {
    let text = line.trim_start();
    let numbered = text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    numbered || ["- ", "|", ">"].iter().any(|mark| text.starts_with(mark))
}

/// One paragraph or point: as it is written if it fits, else filled anew.
fn write_block(lines: &[&str], out: &mut String) {
    let [first, rest @ ..] = lines else { return };
    if lines.iter().all(|line| width_of(line) <= PAGE) {
        lines.iter().for_each(|line| out.extend([*line, "\n"]));
        return;
    }
    let hang = first.len() - first.trim_start().len() + if begins(first) { 2 } else { 0 };
    let whole = rest.iter().fold((*first).to_owned(), |whole, line| whole + " " + line.trim_start());
    out.extend([wrapped(&whole, PAGE, hang).as_str(), "\n"]);
}

/// A blank that no line is broken at.
const BOUND: char = '\u{a0}';

/// The text with commands between backticks as one word each, for whoever breaks lines at blanks.
pub fn joined(text: &str) -> String {
    let mut quoted = false;
    let bound = |c: char| {
        quoted ^= c == '`';
        if quoted && c == ' ' { BOUND } else { c }
    };
    text.chars().map(bound).collect()
}

/// And back.
pub fn parted(text: &str) -> String {
    text.replace(BOUND, " ")
}

/// The text of a cell: all its lines begin at its left edge.
pub fn broken(cell: &str, width: usize) -> Vec<String> {
    wrapped(cell, width, 0).lines().map(str::to_owned).collect()
}

/// One line as several; all but the first stand below the text of the first.
fn line_in(line: &str, width: usize) -> String {
    match width_of(line) <= width || is_command(line) {
        true => line.to_owned(),
        false => wrapped(line, width, hang_of(line, width)),
    }
}

fn wrapped(line: &str, width: usize, hang: usize) -> String {
    let start = line.len() - line.trim_start().len();
    let (mut out, mut at) = (line[..start].to_owned(), width_of(&line[..start]));
    let mut is_first = true;
    for (gap, unit) in units(&line[start..]) {
        let wide = width_of(unit);
        if !is_first && at + gap + wide > width {
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            at = hang;
        } else {
            out.push_str(&" ".repeat(gap));
            at += gap;
        }
        out.push_str(unit);
        at += wide;
        is_first = false;
    }
    out
}

/// A line to be pasted, or what was typed.
fn is_command(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("$ ")
        || (text.len() < line.len() && ["git ", "swarm "].iter().any(|p| text.starts_with(p)))
}

/// Where the second line begins: below the text of a point of a list or of a column, else a little to the right.
fn hang_of(line: &str, width: usize) -> usize {
    let text = line.trim_start();
    let indent = width_of(line) - width_of(text);
    let point = ["- ", "* ", "! ", "… ", "» "].iter().any(|mark| text.starts_with(mark));
    let column = text.find("  ").map(|gap| {
        let rest = text[gap..].trim_start();
        indent + width_of(text) - width_of(rest)
    });
    match column {
        Some(column) if column <= width * 2 / 5 => column,
        _ if point || indent == 0 => indent + 2,
        _ => indent,
    }
}

/// What must stay together, each with the blanks before it: words, and commands between backticks. Scripts without blanks, like
/// Chinese, may be broken anywhere.
fn units(text: &str) -> Vec<(usize, &str)> {
    let mut found = vec![];
    let (mut gap, mut begin, mut quoted, mut was_wide) = (0, None, false, false);
    for (at, c) in text.char_indices() {
        let blank = c == ' ' && !(quoted && text[at..].contains('`'));
        let wide = c.width() == Some(2);
        if let Some(start) = begin.filter(|_| blank || (!quoted && wide && was_wide)) {
            found.push((std::mem::take(&mut gap), &text[start..at]));
            begin = None;
        }
        match blank {
            true => gap += 1,
            false => begin = begin.or(Some(at)),
        }
        quoted ^= c == '`';
        was_wide = wide;
    }
    found.extend(begin.map(|start| (gap, &text[start..])));
    found
}

/// The widest thing in a text that is not broken.
pub fn widest_unit(text: &str) -> usize {
    text.lines().flat_map(units).map(|(_, unit)| width_of(unit)).max().unwrap_or(0)
}

/// The columns that a text takes; colours take none.
pub fn width_of(text: &str) -> usize {
    if !text.contains('\u{1b}') {
        return text.width();
    }
    let mut parts = text.split('\u{1b}');
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    let after_code = |part: &str| part.split_once('m').map_or(0, |(_, shown)| shown.width());
    first + parts.map(after_code).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_nowhere_else() {
        let cases = [
            ("short", "short"),
            ("one two three four five six", "one two three four\n  five six"),
            ("- one two three four five", "- one two three four\n  five"),
            ("    one two three four five", "    one two three\n    four five"),
            ("key   one two three four", "key   one two three\n      four"),
            ("Run `swarm task start 1.2` to go on", "Run\n  `swarm task start 1.2`\n  to go on"),
            ("an odd ` in a text that is long", "an odd ` in a text\n  that is long"),
            ("  swarm task start 1.1 --reason because", "  swarm task start 1.1 --reason because"),
            ("0123456789012345678901234 next", "0123456789012345678901234\n  next"),
            ("一二三四五六七八九十一二", "一二三四五六七八九十\n  一二"),
            ("\u{1b}[31mError:\u{1b}[0m four five six", "\u{1b}[31mError:\u{1b}[0m four five six"),
        ];
        for (given, wanted) in cases {
            assert_eq!(fit(given, Some(20)), wanted, "{given:?}");
            assert_eq!(fit(given, None), given);
        }
    }

    #[test]
    fn a_page_is_filled_by_paragraphs_and_what_is_shown_stays() {
        let long = ["word"; 18].join(" ");
        let text = format!("# {long}\nshort\n{long}\nend\n\n- {long}\n  more\n- b\n```\n{long}\n```\n");
        let page = page(&text);
        let words = ["word"; 15].join(" ");
        assert!(page.starts_with(&format!("# {long}\nshort {words}\n")), "{page}");
        assert!(
            page.contains("word end\n\n- word") && page.contains("\n  word word word more\n- b\n"),
            "{page}"
        );
        assert!(page.ends_with(&format!("```\n{long}\n```\n")), "{page}");
    }

    #[test]
    fn no_word_is_lost_and_none_is_made() {
        let text = "! Paused: trunk fails. Run `swarm resume --reason trunk`, or wait  for it\n\n  a  b";
        for width in WIDTH_MIN..100 {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&fit(text, Some(width))), words(text), "{width}");
        }
    }
}
