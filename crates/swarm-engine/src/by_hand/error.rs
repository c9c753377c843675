//! Why something could not be done by hand: front ends tell it in their own form.

use swarm_git::GitError;
use swarm_protocol::api::ApiError;
use swarm_protocol::refusal::Refusal;

use crate::settings::SettingsError;
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ByHandError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error("{}", .0.message)]
    Said(Said),
}

/// What kind of trouble it is, as the command line has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidKind {
    Usage,
    Environment,
    NothingThere,
    ChangedMeanwhile,
    Untrusted,
}

impl SaidKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Environment => "environment",
            Self::NothingThere => "nothing_there",
            Self::ChangedMeanwhile => "changed_meanwhile",
            Self::Untrusted => "untrusted",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaidHint {
    /// A command that can be pasted.
    Run(String),
    Say(String),
}

/// What could not be done, why, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub kind: SaidKind,
    pub message: String,
    pub causes: Vec<String>,
    pub hint: Option<SaidHint>,
}

impl ByHandError {
    fn said(kind: SaidKind, message: impl Into<String>) -> Said {
        Said { kind, message: message.into(), causes: vec![], hint: None }
    }

    pub(super) fn usage(message: impl Into<String>) -> Said {
        Self::said(SaidKind::Usage, message)
    }

    pub(super) fn environment(message: impl Into<String>) -> Said {
        Self::said(SaidKind::Environment, message)
    }

    pub(super) fn nothing_there(message: impl Into<String>) -> Said {
        Self::said(SaidKind::NothingThere, message)
    }

    pub(super) fn changed_meanwhile(message: impl Into<String>) -> Said {
        Self::said(SaidKind::ChangedMeanwhile, message)
    }

    pub(super) fn untrusted(message: impl Into<String>) -> Said {
        Self::said(SaidKind::Untrusted, message).run("swarm trust")
    }
}

impl Said {
    pub(super) fn because(mut self, cause: impl ToString) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Takes over the whole chain of causes.
    pub(super) fn because_of(mut self, error: &(dyn std::error::Error + 'static)) -> Self {
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

    pub(super) fn run(mut self, command: impl Into<String>) -> Self {
        self.hint = Some(SaidHint::Run(command.into()));
        self
    }

    pub(super) fn say(mut self, sentence: impl Into<String>) -> Self {
        self.hint = Some(SaidHint::Say(sentence.into()));
        self
    }
}

impl From<Said> for ByHandError {
    fn from(said: Said) -> Self {
        Self::Said(said)
    }
}

impl From<ByHandError> for ApiError {
    fn from(error: ByHandError) -> Self {
        match error {
            ByHandError::Refused(refusal) | ByHandError::Store(StoreError::Refused(refusal)) => {
                refusal.into()
            }
            ByHandError::Said(said) => {
                let hint = match said.hint {
                    Some(SaidHint::Run(text) | SaidHint::Say(text)) => text,
                    None => String::new(),
                };
                let words: Vec<String> = std::iter::once(said.message).chain(said.causes).collect();
                Self::new(said.kind.word(), words.join(": "), hint)
            }
            ByHandError::Settings(error) => Self::new("usage", error.to_string(), error.hint),
            error @ (ByHandError::Git(_) | ByHandError::Store(_)) => {
                Self::new("environment", error.to_string(), "swarm doctor")
            }
        }
    }
}
