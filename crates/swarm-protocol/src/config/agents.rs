//! Which program works, and what it may do.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Profiles by name.
pub type Profiles = BTreeMap<String, Profile>;

/// How an agent runs: program, model, rights.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Profile {
    /// claude, codex, gemini, opencode, acp, exec or script; the name of the profile when not set.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// What to start instead of the program found on PATH; needed for acp and exec.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Further arguments, after our own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The swarm's own when not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxKind>,
    /// Whether the network is open; as for the swarm when not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Folders it may write besides its worktree; `~/` is the home folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Profiles of one group share an allowance; the program's name when not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_group: Option<String>,
    /// Profiles taken instead while the allowance is used up, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// The profile with more rights that takes over what this one was not allowed to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broader: Option<String>,
    /// Names of variables handed on to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
}

/// What keeps an agent to its worktree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxKind {
    /// The kernel's, around the program and all it starts.
    #[default]
    Landlock,
    /// The same, and nothing is started where one of the walls cannot be put up.
    Strict,
    /// The program's own.
    Program,
    /// Nothing; said on every screen.
    None,
}

/// How the processes of an attempt are kept together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContainmentKind {
    /// The best of the others that works here.
    #[default]
    Auto,
    Cgroup,
    Pidns,
    Group,
}

/// What the next iteration of a task goes on with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// The program's session of the last one, where it can.
    #[default]
    Resume,
    /// Nothing but the worktree and the prompt.
    Fresh,
}

/// Keys, log-ins and what browsers remember: no work on a repository needs them.
const HIDDEN: [&str; 27] = [
    "~/.ssh",
    "~/.aws",
    "~/.azure",
    "~/.config/gcloud",
    "~/.gnupg",
    "~/.config/gh",
    "~/.config/glab-cli",
    "~/.config/hub",
    "~/.kube",
    "~/.docker",
    "~/.netrc",
    "~/.git-credentials",
    "~/.config/git/credentials",
    "~/.pgpass",
    "~/.pypirc",
    "~/.cargo/credentials.toml",
    "~/.cargo/credentials",
    "~/.password-store",
    "~/.local/share/keyrings",
    "~/.mozilla",
    "~/.thunderbird",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.config/BraveSoftware",
    "~/.config/microsoft-edge",
    "/etc/shadow",
    "/etc/gshadow",
];

/// What is hidden where the configuration does not say.
pub fn hidden_by_default() -> Vec<String> {
    HIDDEN.map(str::to_owned).to_vec()
}
