//! What went wrong, for people and for scripts: what could not be done, why, what to do.

use std::fmt;

use serde::Serialize;
use swarm_protocol::refusal::Refusal;

use crate::exit::Exit;

/// The kind of an error that is not printed any more.
const ALREADY_SAID: &str = "already_said";

/// The one error type of the command line. Made where the words are known, printed in one place.
#[derive(Debug)]
pub struct CliError {
    pub exit: Exit,
    /// For scripts: the kind of refusal, or `usage`, `environment`, `no_coordinator`.
    pub kind: &'static str,
    pub message: String,
    /// From the nearest cause to the farthest.
    pub causes: Vec<String>,
    pub hint: Option<Hint>,
    /// What the rules said, for front ends that go on from there.
    pub refusal: Option<Box<Refusal>>,
    /// What was done all the same; as JSON it stands in the same document.
    pub done: Option<Box<serde_json::Value>>,
    /// A run had not begun yet: that is no crash, and started again at once it would fail in the same way.
    pub not_begun: bool,
}

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// A command that can be pasted as it is, or with FILE filled in.
    Run(String),
    /// A sentence.
    Say(String),
}

const REPLACED: &str = "replaced";

impl CliError {
    fn new(exit: Exit, kind: &'static str, message: impl Into<String>) -> Self {
        let (message, causes) = (message.into(), vec![]);
        Self { exit, kind, message, causes, hint: None, refusal: None, done: None, not_begun: false }
    }

    /// The words on the command line do not make sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// A plan file that is none. Nothing was changed.
    pub fn bad_plan(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "bad_plan", message)
    }

    /// The world is not as it has to be.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(Exit::Environment, "environment", message)
    }

    /// What is here was written by somebody else and would be executed.
    pub fn untrusted(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "untrusted", message).run_instead("swarm trust")
    }

    /// Another one has taken the ledger over: there is nothing to go on with.
    pub fn replaced(message: impl Into<String>) -> Self {
        Self::new(Exit::Environment, REPLACED, message)
    }

    /// Nobody is there to answer.
    pub fn no_coordinator(message: impl Into<String>) -> Self {
        Self::new(Exit::NoCoordinator, "no_coordinator", message)
    }

    /// There is nothing to show or do now, though there might be later.
    pub fn refused_now(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "nothing_there", message)
    }

    /// The place is taken by another tool, whose files are not ours to write.
    pub fn foreign_plan(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "foreign_plan", message)
    }

    /// Another coordinator has the ledger.
    pub fn owned(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "owned", message)
    }

    /// The one who asks may not do this.
    pub fn not_allowed(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "not_allowed", message)
    }

    /// Somebody else was quicker.
    pub fn changed_meanwhile(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "changed_meanwhile", message)
    }

    /// Everything there is to say stands on stdout already; only the exit code is left.
    pub fn already_said(ledger_itself: bool) -> Self {
        let exit = if ledger_itself { Exit::Environment } else { Exit::Refused };
        Self::new(exit, ALREADY_SAID, "")
    }

    /// Something derived from the ledger is not as it should be.
    pub fn out_of_step(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, "out_of_step", message)
    }

    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Takes over the whole chain of causes of an error of a library.
    pub fn because_of(mut self, error: &(dyn std::error::Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            let words = cause.to_string();
            // Some errors repeat the words of their source; people need to read them once.
            if !self.causes.last().is_some_and(|last| last.ends_with(&words)) {
                self.causes.push(words);
            }
            next = cause.source();
        }
        self
    }

    pub fn run_instead(mut self, command: impl Into<String>) -> Self {
        self.hint = Some(Hint::Run(command.into()));
        self
    }

    pub fn say(mut self, sentence: impl Into<String>) -> Self {
        self.hint = Some(Hint::Say(sentence.into()));
        self
    }

    /// A part of what was asked for was done.
    pub fn beside<V: Serialize + ?Sized>(mut self, done: &V) -> Self {
        self.done = serde_json::to_value(done).ok().map(Box::new);
        self
    }

    /// The rules do not know what was typed: where all that they can name is the help, it is that of this command.
    pub fn helped_by(mut self, words: &str) -> Self {
        if self.hint == Some(Hint::Run("swarm --help".into())) {
            self.hint = Some(Hint::Run(format!("swarm {words} --help")));
        }
        self
    }

    pub fn is_replaced(&self) -> bool {
        self.kind == REPLACED
    }

    pub fn not_begun(self) -> Self {
        Self { not_begun: true, ..self }
    }

    pub fn is_already_said(&self) -> bool {
        self.kind == ALREADY_SAID
    }

    pub fn json(&self) -> String {
        let form = ErrorForm {
            error: Inner {
                kind: self.kind,
                exit: self.exit.code(),
                message: &self.message,
                causes: &self.causes,
                hint: self.hint.as_ref().map(|hint| match hint {
                    Hint::Run(text) | Hint::Say(text) => text.as_str(),
                }),
            },
            done: self.done.as_deref(),
        };
        serde_json::to_string(&form).expect("plain data serialises")
    }
}

#[derive(Serialize)]
struct ErrorForm<'a> {
    error: Inner<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<&'a serde_json::Value>,
}

#[derive(Serialize)]
struct Inner<'a> {
    kind: &'a str,
    exit: u8,
    message: &'a str,
    causes: &'a [String],
    hint: Option<&'a str>,
}

impl From<Refusal> for CliError {
    fn from(refusal: Refusal) -> Self {
        let mut error = Self::new(Exit::Refused, refusal.kind(), refusal.message());
        error.refusal = Some(Box::new(refusal.clone()));
        let near = match &refusal {
            Refusal::UnknownTask { near, .. } | Refusal::UnknownDependency { near, .. } => near.as_ref(),
            _ => None,
        };
        match near {
            Some(near) => error.say(format!("Did you mean {near}? Run `{}`", refusal.hint())),
            None => error.run_instead(refusal.hint()),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error: {}", one_line(&self.message))?;
        for cause in &self.causes {
            write!(f, "\nCaused by: {}", one_line(cause))?;
        }
        match &self.hint {
            Some(Hint::Run(command)) => write!(f, "\nHint: Run `{command}`"),
            Some(Hint::Say(sentence)) => write!(f, "\nHint: {sentence}"),
            None => Ok(()),
        }
    }
}

/// A message may quote what a plan or a program said; a terminal must not obey it.
fn one_line(text: &str) -> String {
    crate::output::harmless(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_why_and_what_to_do() {
        let error =
            CliError::environment("Cannot read plan.md").because("no such file").say("Is the name right?");
        assert_eq!(
            error.to_string(),
            "Error: Cannot read plan.md\nCaused by: no such file\nHint: Is the name right?"
        );
        assert_eq!(
            error.json(),
            r#"{"error":{"kind":"environment","exit":3,"message":"Cannot read plan.md","causes":["no such file"],"hint":"Is the name right?"}}"#
        );
    }

    #[test]
    fn what_was_done_all_the_same_stands_beside_the_error() {
        let error = CliError::usage("Two of three").beside(&["1.1"]);
        assert_eq!(
            error.json(),
            r#"{"error":{"kind":"usage","exit":2,"message":"Two of three","causes":[],"hint":null},"done":["1.1"]}"#
        );
    }

    #[test]
    fn a_refusal_keeps_its_kind_and_its_hint_is_a_command() {
        let error = CliError::from(Refusal::ProfileLocked);
        assert_eq!((error.exit, error.kind), (Exit::Refused, "profile_locked"));
        assert_eq!(error.hint, Some(Hint::Run("swarm plan reset".into())));
    }

    #[test]
    fn where_only_the_help_helps_it_is_that_of_the_command() {
        let refused = || Refusal::BadValue { what: "The title".into(), why: "it is empty".into() };
        let error = CliError::from(refused()).helped_by("task edit");
        assert_eq!(error.hint, Some(Hint::Run("swarm task edit --help".into())));
        let other = CliError::from(Refusal::ProfileLocked).helped_by("task edit");
        assert_eq!(other.hint, Some(Hint::Run("swarm plan reset".into())));
    }

    #[test]
    fn what_a_plan_says_cannot_move_the_cursor() {
        let error = CliError::usage("There is no task \u{1b}[2J\nError: all is lost");
        assert_eq!(error.to_string(), "Error: There is no task \\u{1b}[2J | Error: all is lost");
    }
}
