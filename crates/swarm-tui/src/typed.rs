//! Commands of the command line, typed on the screen: the way to everything that has no key of its own.

use swarm_protocol::api::ApiError;
use swarm_protocol::oplog::PreviewView;

/// What becomes of a typed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Its output is shown.
    Reads,
    /// It is looked at first, and carried out when the person has seen what it would do.
    Changes,
    /// It gets the terminal for itself, as an editor does.
    Here,
}

/// A command that can be typed behind `swarm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// `task split`
    pub words: String,
    pub about: String,
    /// What it cannot do without: `<TASK> <FILE>`.
    pub takes: String,
    pub does: Does,
}

/// What came of looking at a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Looked {
    Preview(Box<PreviewView>),
    Text(String),
}

/// Who knows the commands and carries them out. Its functions may take their time.
pub trait Typist: Send + Sync + 'static {
    fn commands(&self) -> Vec<Typed>;
    /// What one that changes something would do; what any other one says.
    fn look(&self, words: &[String], does: Does) -> Result<Looked, ApiError>;
    /// Carries it out, if it still does what was seen, and gives back what it says.
    fn call(&self, words: &[String], seen: Option<&str>) -> Result<String, ApiError>;
    /// On the terminal itself, until it has ended.
    fn call_here(&self, words: &[String]) -> Result<(), String>;
}

/// A line as it is typed in a shell, without the name of the program that this is.
fn bare(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.strip_prefix("swarm");
    rest.filter(|rest| rest.starts_with(char::is_whitespace)).map_or(line, str::trim_start)
}

/// What stands behind these words, where the line begins with them, however many blanks are between.
fn behind<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    words.split_whitespace().try_fold(bare(line), |rest, word| {
        let rest = rest.trim_start().strip_prefix(word)?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
    })
}

/// The command that a line begins with; the longest, since `plan profile set` begins with `plan`.
pub fn named<'a>(commands: &'a [Typed], line: &str) -> Option<&'a Typed> {
    let begins = |typed: &&Typed| behind(line, &typed.words).is_some();
    commands.iter().filter(begins).max_by_key(|typed| typed.words.len())
}

/// The command and the line that calls it, in the words of its help.
pub fn called<'a>(commands: &'a [Typed], line: &str) -> Option<(&'a Typed, String)> {
    let command = named(commands, line)?;
    Some((command, format!("{}{}", command.words, behind(line, &command.words)?)))
}

/// Why a line calls nothing: the word at which it leaves what there is, and what would fit there.
pub fn unknown(commands: &[Typed], line: &str) -> String {
    let typed: Vec<&str> = bare(line).split_whitespace().collect();
    let all: Vec<Vec<&str>> = commands.iter().map(|one| one.words.split_whitespace().collect()).collect();
    let begin_alike =
        |n: usize| all.iter().filter(|words| words.get(..n) == typed.get(..n)).collect::<Vec<_>>();
    let known = (1..=typed.len()).take_while(|n| !begin_alike(*n).is_empty()).count();
    let mut next: Vec<&str> =
        begin_alike(known).iter().filter_map(|words| words.get(known).copied()).collect();
    next.dedup();
    let place = match typed.get(known) {
        Some(word) => format!("`{word}`, word {}, fits nowhere", known + 1),
        None => "a word is missing at its end".into(),
    };
    let instead = match (known, next.is_empty()) {
        (0, _) | (_, true) => "`swarm --help` in a terminal lists what there is".into(),
        _ => format!("there is {}", next.join(", ")),
    };
    format!("No command here is called `swarm {}`: {place}; {instead}", typed.join(" "))
}

/// The words of a line. Quotes hold a word with blanks together; nothing else has a meaning.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut open) = (Vec::new(), None::<String>, None);
    for (at, c) in line.chars().enumerate() {
        match open {
            Some((quote, _)) if c == quote => open = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if matches!(c, '"' | '\'') => {
                open = Some((c, at + 1));
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    if let Some((quote, column)) = open {
        return Err(format!("The quote {quote} at column {column} is open at the end of the line"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_words_and_quotes_hold_blanks_together() {
        let parts = |line| words(line).map(|words| words.join("|"));
        assert_eq!(parts("task  block 1.3 \"not now\""), Ok("task|block|1.3|not now".into()));
        assert_eq!(parts("task edit 1.3 --title ''"), Ok("task|edit|1.3|--title|".into()));
        let open = words("agent message 1.3 'it").expect_err("it is open");
        assert_eq!(open, "The quote ' at column 19 is open at the end of the line");
    }

    #[test]
    fn the_longest_command_is_meant() {
        let typed = |words: &str| Typed {
            words: words.into(),
            about: String::new(),
            takes: String::new(),
            does: Does::Reads,
        };
        let all = [typed("plan"), typed("plan show"), typed("plan profile set")];
        assert_eq!(
            named(&all, "plan profile set --max 3").map(|t| t.words.as_str()),
            Some("plan profile set")
        );
        assert_eq!(named(&all, "planted"), None);
        let called = |line| called(&all, line).map(|(_, line)| line);
        assert_eq!(called(" swarm plan   profile set  --max 3"), Some("plan profile set  --max 3".into()));
        assert_eq!(called("swarmplan show"), None);
        assert_eq!(called("plan\tshow"), Some("plan show".into()));
        let said = unknown(&all, "swarm plan profile sett --max 3");
        assert!(said.contains("`sett`, word 3, fits nowhere; there is set"), "{said}");
        assert!(unknown(&all, "tui").contains("`tui`, word 1, fits nowhere; `swarm --help`"));
    }
}
