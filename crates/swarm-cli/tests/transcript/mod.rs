//! The form of a transcript: read, written, and freed of what differs from run to run.

use std::fmt::Write;
use std::path::Path;

use crate::world::Ran;

pub struct Transcript {
    pub items: Vec<Item>,
}

pub enum Item {
    /// A line for the reader, or an empty one.
    Comment(String),
    File {
        name: String,
        text: String,
    },
    Command {
        line: String,
        said: String,
    },
}

impl Transcript {
    pub fn read(text: &str) -> Self {
        let mut items = vec![];
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("--- ") {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "---").collect();
                items.push(Item::File { name: name.into(), text: body.join("\n") + "\n" });
            } else if let Some(command) = line.strip_prefix("$ ") {
                let starts =
                    |line: &str| line.starts_with("$ ") || line.starts_with("# ") || line.starts_with("--- ");
                // What stood there is played anew; only where it ends matters.
                while lines.next_if(|line| !starts(line)).is_some() {}
                items.push(Item::Command { line: command.into(), said: String::new() });
            } else {
                items.push(Item::Comment(line.into()));
            }
        }
        Self { items }
    }

    pub fn write(&self) -> String {
        let mut text = String::new();
        for item in &self.items {
            let _ = match item {
                Item::Comment(line) => writeln!(text, "{line}"),
                Item::File { name, text: body } => writeln!(text, "--- {name}\n{body}---"),
                Item::Command { line, said } => writeln!(text, "$ {line}\n{said}"),
            };
        }
        text
    }
}

/// What a command said, as it stands in a transcript.
pub fn said(ran: &Ran, base: &Path) -> String {
    let mut text = String::new();
    for line in ran.out.lines() {
        // A first character that would mean something else is set off.
        let quoted =
            if line.starts_with(['$', '#', '!', '?', '|']) || line.starts_with("---") { "| " } else { "" };
        let _ = writeln!(text, "{quoted}{line}");
    }
    for line in ran.err.lines() {
        let _ = writeln!(text, "! {line}");
    }
    if ran.code != Some(0) {
        let _ = writeln!(text, "? {}", ran.code.map_or("killed".into(), |code| code.to_string()));
    }
    let text = text.replace(&base.display().to_string(), "[DIR]");
    normal(&(0..120).fold(text, |text, secs| text.replace(&format!("({secs}s)"), "([AGO])")))
}

/// Hashes, ids and times are different each time.
fn normal(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word_end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if word_end == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(word_end);
        let clock_time = after.get(..9).is_some_and(|t| shape(t) == " 00:00:00");
        if shape(word) == "0000-00-00" && clock_time {
            // As wide as what it stands for, so that tables stay in line.
            out.push_str("YYYY-MM-DD HH:MM:SS");
            rest = &after[9..];
            continue;
        }
        out.push_str(&normal_word(word));
        rest = after;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.')
}

fn shape(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

fn normal_word(word: &str) -> String {
    let hex = word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let ulid = word.len() == 26
        && word.starts_with('0')
        && word.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    match word.len() {
        64 if hex => "[HASH]".into(),
        40 if hex => "[COMMIT]".into(),
        _ if ulid => "[ID]".into(),
        _ => without_time(word),
    }
}

fn without_time(word: &str) -> String {
    let shape = shape(word);
    let at = ["0000-00-00T00:00:00.000Z", "0000-00-00T00-00-00"]
        .iter()
        .find_map(|time| Some((shape.find(time)?, time.len())));
    match at {
        Some((at, len)) => format!("{}[TIME]{}", &word[..at], &word[at + len..]),
        None => word.into(),
    }
}

/// The lines that differ, with the place of the first one.
pub fn difference(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let same = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let part = |lines: &[&str], sign: &str| -> String {
        lines.iter().skip(same).take(12).map(|line| format!("{sign} {line}\n")).collect()
    };
    format!("from line {}:\n{}{}", same + 1, part(&expected, "-"), part(&found, "+"))
}
