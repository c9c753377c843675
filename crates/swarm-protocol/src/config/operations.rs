//! Checkpoints that make themselves, and the user's hooks.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;
use crate::operation::HookRule;
use crate::policy::CheckpointRules;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Checkpoints {
    /// One after so many finished tasks; 0: none.
    #[cfg_attr(feature = "schema", schemars(range(max = 10000)))]
    pub periodic: u32,
    pub before_autopilot: bool,
    pub before_merge: bool,
    /// Automatic ones that are kept.
    #[cfg_attr(feature = "schema", schemars(range(min = 3, max = 10000)))]
    pub keep: u32,
    /// How long automatic ones are kept.
    pub max_age: Span,
    /// A tag for each that a person makes.
    pub tags: bool,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self {
            periodic: 5,
            before_autopilot: true,
            before_merge: true,
            keep: 50,
            max_age: Span::secs(30 * 86_400),
            tags: true,
        }
    }
}

impl Checkpoints {
    /// What the core is told.
    pub fn rules(&self) -> CheckpointRules {
        CheckpointRules {
            session_start: true,
            before_autopilot: self.before_autopilot,
            before_merge: self.before_merge,
            before_risky: true,
            periodic: self.periodic,
            keep: self.keep,
            keep_secs: self.max_age.secs,
        }
    }
}

/// Hooks by name.
pub type Hooks = BTreeMap<String, Hook>;

/// A path from the repository's root, or more about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Hook {
    Path(String),
    Details(HookDetails),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HookDetails {
    /// A path from the repository's root.
    pub command: String,
    #[serde(default = "half_a_minute")]
    pub timeout: Span,
    /// For pre-start and pre-merge: its failure refuses what it stands before.
    #[serde(default)]
    pub blocking: bool,
}

fn half_a_minute() -> Span {
    Span::secs(30)
}

impl Hook {
    pub const NAMES: [&'static str; 8] = [
        "pre-start",
        "post-complete",
        "pre-merge",
        "post-merge",
        "on-conflict",
        "on-learning",
        "on-pause",
        "on-error",
    ];

    pub fn command(&self) -> &str {
        match self {
            Self::Path(path) => path,
            Self::Details(details) => &details.command,
        }
    }

    pub fn timeout(&self) -> Span {
        match self {
            Self::Path(_) => half_a_minute(),
            Self::Details(details) => details.timeout,
        }
    }

    pub fn blocking(&self) -> bool {
        matches!(self, Self::Details(HookDetails { blocking: true, .. }))
    }

    /// The name of spec and file for each way of writing it.
    pub fn canonical(name: &str) -> Option<&'static str> {
        let name = match name {
            "pre-task-start" => "pre-start",
            "post-task-complete" => "post-complete",
            other => other,
        };
        Self::NAMES.into_iter().find(|known| *known == name)
    }
}

/// Those of the configuration; the coordinator adds the files it finds.
pub fn hook_rules(hooks: &Hooks) -> Vec<HookRule> {
    hooks
        .iter()
        .filter_map(|(name, hook)| {
            Hook::canonical(name).map(|name| HookRule { name: name.into(), blocking: hook.blocking() })
        })
        .collect()
}
