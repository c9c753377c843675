//! Where tasks are worked on, and what becomes of that afterwards.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;
use crate::channel::CommandLine;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Worktree {
    /// Where worktrees are made, from the repository's root.
    pub dir: String,
    /// Prepares a new, recycled or merge worktree: `npm ci`.
    pub setup: Option<CommandLine>,
    pub setup_timeout: Span,
    /// Files whose change makes the set-up run again: `package-lock.json`.
    pub setup_when: Vec<String>,
    /// Ignored files that every worktree gets a copy of: `.env`.
    pub copy: Vec<String>,
    /// Ignored files that may go with a worktree, by name, path or glob, besides those that tools are known to make
    /// again (`node_modules`, `.gradle`, `*.log` …). `!dist` takes one of those out, `!*` all of them.
    pub disposable: Vec<String>,
    /// Worktrees kept for the next tasks, at most; never more than were in use at the same time.
    #[cfg_attr(feature = "schema", schemars(range(max = 64)))]
    pub pool: u32,
    /// First of the port numbers that worktrees get as SWARM_PORT_BASE.
    #[cfg_attr(feature = "schema", schemars(range(min = 1024, max = 60000)))]
    pub ports: u16,
    /// How long removed worktrees stay in the trash.
    pub trash: Span,
    /// A worktree with a file larger than this is never removed, in MiB.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_file: u64,
}

impl Default for Worktree {
    fn default() -> Self {
        Self {
            dir: ".swarm/worktrees".into(),
            setup: None,
            setup_timeout: Span::secs(900),
            setup_when: vec![],
            copy: vec![],
            disposable: vec![],
            pool: 16,
            ports: 20_000,
            trash: Span::secs(7 * 86_400),
            max_file: 100,
        }
    }
}
