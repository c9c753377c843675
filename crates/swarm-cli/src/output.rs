//! Data goes to stdout, everything else to stderr; both are understandable without colour.

pub mod layout;
pub mod money;
pub mod paint;
pub mod preview;
pub mod table;
pub mod time;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressDrawTarget};
use serde::Serialize;

use crate::error::CliError;
use crate::exit::Exit;

/// How this run of the program talks.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    pub json: bool,
    /// Colours on stdout.
    pub colour: bool,
}

impl Output {
    pub fn new(json: bool) -> Self {
        Self { json, colour: !json && wants_colour(io::stdout().is_terminal()) }
    }

    /// Prints a view: unchanged as JSON, or by `text` for people.
    pub fn view<V: Serialize>(self, view: &V, text: impl FnOnce(&V) -> String) -> Result<(), CliError> {
        if self.json { self.json_value(view) } else { self.prose(&text(view)) }
    }

    /// The same where the text is itself a format: its lines stay as they are.
    pub fn document<V: Serialize>(self, view: &V, text: impl FnOnce(&V) -> String) -> Result<(), CliError> {
        if self.json { self.json_value(view) } else { self.text(&text(view)) }
    }

    /// Sentences and tables for stdout.
    pub fn prose(self, text: &str) -> Result<(), CliError> {
        self.text(&layout::fit(text, layout::columns(io::stdout())))
    }

    pub fn json_value<V: Serialize>(self, value: &V) -> Result<(), CliError> {
        let line = serde_json::to_string(value).expect("views have text keys and plain values");
        self.text(&line)
    }

    /// Data for stdout, with one newline at its end.
    pub fn text(self, text: &str) -> Result<(), CliError> {
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        // `swarm plan history | head` is no error.
        self.stream(text, end).map(drop)
    }

    /// The same for output that goes on: false when nobody reads it any more.
    pub fn stream(self, text: &str, end: &str) -> Result<bool, CliError> {
        let mut out = io::stdout().lock();
        let written = out
            .write_all(text.as_bytes())
            .and_then(|()| out.write_all(end.as_bytes()))
            .and_then(|()| out.flush());
        match written {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(e) => Err(CliError::environment("Cannot write to stdout").because(e)),
            Ok(()) => Ok(true),
        }
    }
}

/// What moves at the foot of the terminal, if anything does: lines must go above it.
static BOARD: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// From now on notes stand above this.
pub fn stand_above(board: Option<MultiProgress>) {
    *BOARD.lock().unwrap_or_else(PoisonError::into_inner) = board;
}

/// The whole terminal is a screen: a line of ours would stand in the middle of it.
static COVERED: AtomicBool = AtomicBool::new(false);

/// From now on notes go to the log only, or are said again.
pub fn covered(covered: bool) {
    COVERED.store(covered, Ordering::Relaxed);
}

pub fn is_covered() -> bool {
    COVERED.load(Ordering::Relaxed)
}

/// The terminal belongs to the shell for a while.
static AWAY: AtomicBool = AtomicBool::new(false);

/// From now on nothing is drawn or said on a terminal, or again. What is written to a file goes on.
pub fn away(away: bool) {
    if !io::stderr().is_terminal() || AWAY.swap(away, Ordering::Relaxed) == away {
        return;
    }
    if let Some(board) = &*BOARD.lock().unwrap_or_else(PoisonError::into_inner) {
        if away {
            drop(board.clear());
        }
        board.set_draw_target(match away {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        });
    }
}

/// Something worth saying that is not the data asked for.
pub fn note(text: &str) {
    line(&layout::fit(text, layout::columns(io::stderr())));
}

/// The same for what programs read: it stays as it is.
pub fn line(text: &str) {
    if is_covered() {
        tracing::info!(text, "not said: the terminal is a screen");
        return;
    }
    if AWAY.load(Ordering::Relaxed) {
        tracing::info!(text, "not said: the terminal is the shell's");
        return;
    }
    // When stderr is gone there is nobody left to tell.
    let say = || drop(writeln!(io::stderr().lock(), "{text}"));
    match &*BOARD.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(board) => board.suspend(say),
        None => say(),
    }
}

/// Prints an error where this run wants it and gives the exit code.
pub fn report(error: &CliError, json: bool) -> ExitCode {
    if error.is_already_said() {
        return error.exit.into();
    }
    if json {
        let _ = writeln!(io::stdout().lock(), "{}", error.json());
    } else {
        let text = error.to_string();
        let painted = match wants_colour(io::stderr().is_terminal()) {
            true => paint::heads_of_lines(&text),
            false => text,
        };
        note(&painted);
    }
    error.exit.into()
}

/// Help, or what is wrong with the command line, as clap paints it. Help is never wider than a page.
pub fn command_line(said: &clap::Error) {
    let styled = said.render();
    let text = |terminal| {
        layout::parted(&match wants_colour(terminal) {
            true => styled.ansi().to_string(),
            false => styled.to_string(),
        })
    };
    // When the terminal is gone there is nobody left to tell.
    let _ = if said.use_stderr() {
        let width = layout::columns(io::stderr());
        write!(io::stderr().lock(), "{}", layout::fit(&text(io::stderr().is_terminal()), width))
    } else {
        let width = layout::columns(io::stdout()).unwrap_or(layout::PAGE).min(layout::PAGE);
        write!(io::stdout().lock(), "{}", layout::fit(&text(io::stdout().is_terminal()), Some(width)))
    };
}

pub fn done() -> ExitCode {
    Exit::Done.into()
}

fn wants_colour(terminal: bool) -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    terminal && !forbidden && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Text of strangers (plans, agents, file names) for one line of a terminal: nothing in it moves the cursor.
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => " ".to_owned(),
            '\n' => " | ".to_owned(),
            // Bidirectional overrides would let a title read differently from what it is.
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                c.escape_default().to_string()
            }
            c => c.to_string(),
        })
        .collect()
}

/// The same for text of several lines.
pub fn harmless_lines(text: &str) -> String {
    text.lines().map(harmless).collect::<Vec<_>>().join("\n")
}

/// The same of code. Tabs stay, they are what it is made of.
pub fn harmless_code(code: &str) -> String {
    let line = |line: &str| line.split('\t').map(harmless).collect::<Vec<_>>().join("\t");
    code.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A name as one word of a command that is pasted into a shell.
pub fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// `1 task`, `3 tasks`.
pub fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_on_a_terminal_keeps_its_tabs_and_nothing_that_moves_the_cursor() {
        assert_eq!(harmless_code("+\tif x {\n-\u{1b}[2Jgone"), "+\tif x {\n-\\u{1b}[2Jgone");
    }

    #[test]
    fn a_name_is_one_word_for_a_shell() {
        assert_eq!(word(".swarm/plan-draft.json"), ".swarm/plan-draft.json");
        assert_eq!(word("my plan.md"), "'my plan.md'");
        assert_eq!(word("Ann's"), r"'Ann'\''s'");
    }

    #[test]
    fn one_is_not_told_as_several() {
        assert_eq!(counted(1, "task", "tasks"), "1 task");
        assert_eq!([0, 2].map(|n| counted(n, "task", "tasks")), ["0 tasks", "2 tasks"]);
    }
}
