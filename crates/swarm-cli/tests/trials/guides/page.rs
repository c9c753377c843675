//! A page of Markdown as a list of blocks, commands and what they print.

use std::sync::LazyLock;

use regex::Regex;

pub struct Block {
    /// Of the first line inside, from 1.
    pub line: usize,
    pub language: String,
    pub lines: Vec<String>,
    marks: Vec<(String, String)>,
}

impl Block {
    /// What a comment right before the block says of it.
    pub fn mark(&self, name: &str) -> Option<&str> {
        self.marks.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub struct Step {
    pub line: usize,
    pub command: String,
    pub shown: Vec<String>,
}

static FENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^( *)(`{3,})(\w*)").expect("a pattern"));
static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^ *<!-- (\w+): (.*) -->$").expect("a pattern"));

/// The blocks of a page, in order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut marks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(fence) = FENCE.captures(line) {
            let (indent, ticks) = (fence[1].len(), fence[2].to_owned());
            let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != ticks);
            let inside = inside.map(|line| line.get(indent..).unwrap_or_default().to_owned()).collect();
            let marks = std::mem::take(&mut marks);
            found.push(Block { line: at + 2, language: fence[3].to_owned(), lines: inside, marks });
        } else if let Some(mark) = MARK.captures(line) {
            marks.push((mark[1].to_owned(), mark[2].to_owned()));
        } else if !line.trim().is_empty() {
            marks.clear();
        }
    }
    found
}

/// The commands of a block with what is shown of their answers.
pub fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (n, line) in block.lines.iter().enumerate() {
        let at = block.line + n;
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                steps.push(Step { line: at, command: command.to_owned(), shown: Vec::new() });
            }
            (None, Some(step)) => match step.command.strip_suffix('\\') {
                Some(begun) => step.command = format!("{} {}", begun.trim_end(), line.trim()),
                None => step.shown.push(line.clone()),
            },
            (None, None) => panic!("line {at}: an answer before any command"),
        }
    }
    steps
}

/// Words of a command line; what stands behind ` #` is a remark.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Whether one of the printed lines is the one shown, but for what differs from run to run.
pub fn says(said: &str, shown: &str) -> bool {
    let shown = alike(shown);
    let mut lines = said.lines().map(alike);
    if !shown.contains('…') {
        return lines.any(|line| line == shown);
    }
    let parts: Vec<String> = shown.split('…').map(regex::escape).collect();
    let pattern = Regex::new(&format!("^{}$", parts.join(".*"))).expect("a pattern");
    lines.any(|line| pattern.is_match(&line))
}

/// The line with dates, times, ids of commits and processes as names of such.
fn alike(line: &str) -> String {
    static CHANGING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let patterns = [
            (r"\d{4}-\d\d-\d\d", "DATE"),
            (r"\b\d\d:\d\d:\d\d\b", "TIME"),
            (r"\b[0-9a-f]{7,40}\b", "HASH"),
            (r"\b\d+(ms|s|m|h)\b( \d+s)?", "AGE"),
            (r"pid \d+", "pid N"),
            // Who is free first is chance.
            (r"\b[a-z]+-\d{3}\b", "AGENT"),
            (r"\s+", " "),
        ];
        patterns.map(|(pattern, name)| (Regex::new(pattern).expect("a pattern"), name)).into()
    });
    let mut line = line.to_owned();
    for (pattern, name) in CHANGING.iter() {
        line = pattern.replace_all(&line, *name).into_owned();
    }
    line.trim().to_owned()
}

#[test]
fn a_command_line_is_taken_apart_as_a_shell_would() {
    assert_eq!(words("swarm run \"a b\" 'c\"d' e\\ f # no more"), ["swarm", "run", "a b", "c\"d", "e f"]);
    assert_eq!(words("git commit -m ''"), ["git", "commit", "-m", ""]);
    assert!(says("10:00:01  1.1  on main at 05689e14", "09:59:00 1.1 on main at deadbeef"));
    assert!(!says("1.1 waits", "1.1 waits for you"));
}
