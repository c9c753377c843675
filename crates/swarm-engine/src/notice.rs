//! What a person should know.

/// Something a person should know that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Notice {
    pub text: String,
    /// The command that helps; empty when nothing needs to be done.
    pub hint: String,
}

impl Notice {
    pub fn new(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { text: text.into(), hint: hint.into() }
    }
}
