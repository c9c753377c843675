//! A command that a configuration names.

use serde::{Deserialize, Serialize};

/// A command of the user's configuration: run as it is, or by `sh -c` when written as one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CommandLine {
    Shell(String),
    Argv(Vec<String>),
}

impl CommandLine {
    /// The program and its arguments.
    pub fn argv(&self) -> Vec<String> {
        match self {
            Self::Shell(text) => vec!["sh".into(), "-c".into(), text.clone()],
            Self::Argv(argv) => argv.clone(),
        }
    }

    /// As a person would type it.
    pub fn shown(&self) -> String {
        match self {
            Self::Shell(text) => text.clone(),
            Self::Argv(argv) => argv.join(" "),
        }
    }
}
