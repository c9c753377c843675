//! What `swarm doctor` found, as it travels.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad it is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Ok,
    /// Worth knowing; nothing is wrong with it.
    Note,
    Problem,
}

impl Health {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was looked at, and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Finding {
    /// Which check it comes from: `docs/reference/doctor.md` lists them.
    pub id: String,
    pub title: String,
    /// What it is about (a file, a task, a program), where the check looks at several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    pub state: Health,
    /// What was seen, one sentence without a full stop.
    pub what: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// It was out of order, and is not any more.
    pub fixed: bool,
}

/// Everything that was looked at, in the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DoctorView {
    pub findings: Vec<Finding>,
    pub problems: usize,
    pub fixed: usize,
}
