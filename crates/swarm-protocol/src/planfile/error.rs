//! Why a plan file could not be read, for the person who wrote it.

use std::fmt;

/// A plan file that cannot be read as one: where, why, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFileError {
    /// The file as the person named it.
    pub file: String,
    /// Counted from 1.
    pub line: Option<usize>,
    pub why: String,
    pub hint: String,
}

impl PlanFileError {
    pub(super) fn at(file: &str, line: usize, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { file: file.into(), line: Some(line), why: why.into(), hint: hint.into() }
    }

    pub(super) fn whole(file: &str, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, why: why.into(), hint: hint.into() }
    }
}

impl fmt::Display for PlanFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "Cannot read the plan {} at line {line}: {}", self.file, self.why),
            None => write!(f, "Cannot read the plan {}: {}", self.file, self.why),
        }
    }
}

impl std::error::Error for PlanFileError {}
