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

/// The command that a line begins with; the longest, since `plan profile set` begins with `plan`.
pub fn named<'a>(commands: &'a [Typed], line: &str) -> Option<&'a Typed> {
    let line = line.trim_start();
    let begins = |typed: &&Typed| {
        let rest = line.strip_prefix(typed.words.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    };
    commands.iter().filter(begins).max_by_key(|typed| typed.words.len())
}

/// The words of a line. Quotes hold a word with blanks together; nothing else has a meaning.
pub fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word, mut open) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match open {
            Some(quote) if c == quote => open = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if matches!(c, '"' | '\'') => {
                open = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    if open.is_some() {
        return Err("A quote is open at the end of the line");
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
        assert!(parts("agent message 1.3 'it").is_err());
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
    }
}
