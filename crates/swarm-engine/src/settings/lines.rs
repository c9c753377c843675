//! Where each key of a commented JSON file stands. A tolerant walk: whether the text is JSON at all
//! is decided by the parser proper; this one only has to find the line to blame.

use std::collections::BTreeMap;

/// Nesting that a configuration may have; the parser behind us recurses.
const DEPTH_MAX: usize = 32;

/// Where the parser lets a comment end. What we took for a comment and it did not would be nested as deep as anybody likes.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub path: Vec<String>,
    pub line: usize,
    /// The line of an earlier entry with the same path.
    pub twice: Option<usize>,
}

/// All keys of objects that are not inside a list, in the order of the file.
pub(super) fn keys_with_lines(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let mut entries: Vec<Entry> = Vec::new();
    // By their dotted names: `budget.task.tokens` may be written as one key, too.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut open: Vec<Level> = Vec::new();
    for Token { line, kind } in tokens(text) {
        match kind {
            Kind::Open(list) => {
                if open.len() == DEPTH_MAX {
                    return Err((line, format!("it is nested more than {DEPTH_MAX} levels deep")));
                }
                open.push(Level { list, word: None, key: None });
            }
            Kind::Close => {
                open.pop();
                if let Some(level) = open.last_mut() {
                    level.key = None;
                }
            }
            Kind::Word(word) => {
                if let Some(level) = open.last_mut() {
                    level.word = Some(word);
                }
            }
            Kind::Comma => {
                if let Some(level) = open.last_mut() {
                    (level.word, level.key) = (None, None);
                }
            }
            Kind::Colon => {
                let Some(level) = open.last_mut() else { continue };
                level.key = level.word.take();
                if open.iter().any(|level| level.list) {
                    continue;
                }
                let path: Vec<String> = open.iter().filter_map(|level| level.key.clone()).collect();
                let twice = seen.insert(path.join("."), line);
                entries.push(Entry { path, line, twice });
            }
        }
    }
    Ok(entries)
}

struct Level {
    list: bool,
    word: Option<String>,
    key: Option<String>,
}

struct Token {
    line: usize,
    kind: Kind,
}

enum Kind {
    /// `{` or, true, `[`.
    Open(bool),
    Close,
    Colon,
    Comma,
    Word(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (kind, taken) = match c {
            '{' => (Some(Kind::Open(false)), 1),
            '[' => (Some(Kind::Open(true)), 1),
            '}' | ']' => (Some(Kind::Close), 1),
            ':' => (Some(Kind::Colon), 1),
            ',' => (Some(Kind::Comma), 1),
            '"' | '\'' => quoted(rest, c),
            '/' if rest.starts_with("//") => (None, rest.find(LINE_ENDS).unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, rest[2..].find("*/").map_or(rest.len(), |at| at + 4)),
            c if c.is_whitespace() => (None, c.len_utf8()),
            c => {
                let ends = |c: char| c.is_whitespace() || "{}[]:,\"'/".contains(c);
                let len = rest.find(ends).unwrap_or(rest.len()).max(c.len_utf8());
                (Some(Kind::Word(rest[..len].to_owned())), len)
            }
        };
        if let Some(kind) = kind {
            out.push(Token { line, kind });
        }
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    out
}

/// A text in quotes; escapes are kept as written, because a key of ours has none.
fn quoted(text: &str, quote: char) -> (Option<Kind>, usize) {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return (Some(Kind::Word(text[1..at].to_owned())), at + 1),
            _ => {}
        }
    }
    (Some(Kind::Word(text[1..].to_owned())), text.len())
}
