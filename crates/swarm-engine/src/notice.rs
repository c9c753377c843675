//! What a person should know.

use std::path::{Path, PathBuf};

/// Something a person should know that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Notice {
    pub text: String,
    /// The command that helps; empty when nothing needs to be done.
    pub hint: String,
    /// The file that the hint names from the root. Below it that name means another file: whoever prints the hint names it anew.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

impl Notice {
    pub fn new(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { text: text.into(), hint: hint.into(), file: None }
    }

    pub fn about(self, file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }
}
