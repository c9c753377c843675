//! How finished work comes to trunk.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;
use crate::channel::CommandLine;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Merge {
    /// Red verifications of one task before it is blocked for a person.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub rounds: u32,
    /// Lost races for trunk before the merge waits.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub races: u32,
    pub strategy: Strategy,
    /// Times that an agent is asked to resolve what conflicts with trunk, before a person is; 0: a person at once.
    #[cfg_attr(feature = "schema", schemars(range(max = 10)))]
    pub resolve: u32,
    /// Files that a command makes again where they conflict: lock files, generated code.
    pub regenerate: Vec<Regenerate>,
    /// Files that only a person lets through to trunk, whoever else reviews; names, paths or globs:
    /// `.github/workflows/**`, `CODEOWNERS`. Whatever lies in `.swarm` is among them without being named.
    pub protected: Vec<String>,
}

/// How files are made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Regenerate {
    /// A name, a path or a glob: `package-lock.json`.
    pub files: String,
    /// Run in the merge worktree, where everything else is merged: `npm install --package-lock-only`.
    pub command: CommandLine,
    pub timeout: Span,
}

/// How a task's commits come to trunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// As they are, one after the other.
    #[default]
    Commits,
    /// As one commit.
    Squash,
    /// As they are, joined by a merge commit.
    Merge,
}

impl Default for Merge {
    fn default() -> Self {
        Self {
            rounds: 3,
            races: 3,
            strategy: Strategy::default(),
            resolve: 2,
            regenerate: vec![],
            protected: vec![],
        }
    }
}

impl Default for Regenerate {
    fn default() -> Self {
        Self { files: String::new(), command: CommandLine::Argv(vec![]), timeout: Span::secs(300) }
    }
}
