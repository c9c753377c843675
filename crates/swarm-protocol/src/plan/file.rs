//! The plan as it stands in a file, and the way between both.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{ExecutionProfile, Extra, Size, Status, TaskSpec};
use crate::ids::TaskId;
use crate::review::{check_isolation, check_reviewer};

/// A plan file: what `swarm plan save` reads and `swarm plan export` writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PlanFile {
    pub goal: String,
    pub phases: Vec<PhaseFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_profile: Option<ExecutionProfile>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PhaseFile {
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub id: u32,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub tasks: Vec<TaskFile>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A task in a plan file: as in the ledger, but with unknown members beside the known ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TaskFile {
    pub id: TaskId,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// Globs of the files the task is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Globs of files that nobody else changes while the task is worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserve: Vec<String>,
    /// Globs of files that others may share, and nobody may reserve meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(max = 4)))]
    pub priority: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "isolation")]
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["worktree", "reservation", null])))]
    pub isolation: Option<String>,
    /// Who reviews it; else the configuration says so.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "reviewer")]
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["none", "command", "agent", "council", "human", null])))]
    pub review: Option<String>,
    /// It may be done without a change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_empty: bool,
    /// Written on export; on import `done`, `deferred`, `cancelled` and `blocked` are taken over, others start as pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A word that is not known is told with its line, as everything else that is wrong in a file.
fn checked<'de, D: Deserializer<'de>>(
    reader: D,
    check: fn(&str) -> Result<(), String>,
) -> Result<Option<String>, D::Error> {
    let word = Option::<String>::deserialize(reader)?;
    word.as_deref().map_or(Ok(()), check).map_err(D::Error::custom)?;
    Ok(word)
}

fn isolation<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    checked(reader, check_isolation)
}

fn reviewer<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    checked(reader, check_reviewer)
}

impl From<TaskFile> for TaskSpec {
    fn from(t: TaskFile) -> Self {
        Self {
            id: t.id,
            title: t.title,
            description: t.description,
            depends: t.depends,
            acceptance: t.acceptance,
            files: t.files,
            reserve: t.reserve,
            share: t.share,
            tags: t.tags,
            size: t.size,
            priority: t.priority,
            profile: t.profile,
            isolation: t.isolation,
            review: t.review,
            allow_empty: t.allow_empty,
            extra: t.extra,
        }
    }
}

impl From<TaskSpec> for TaskFile {
    fn from(t: TaskSpec) -> Self {
        Self {
            id: t.id,
            title: t.title,
            description: t.description,
            depends: t.depends,
            acceptance: t.acceptance,
            files: t.files,
            reserve: t.reserve,
            share: t.share,
            tags: t.tags,
            size: t.size,
            priority: t.priority,
            profile: t.profile,
            isolation: t.isolation,
            review: t.review,
            allow_empty: t.allow_empty,
            status: None,
            extra: t.extra,
        }
    }
}
