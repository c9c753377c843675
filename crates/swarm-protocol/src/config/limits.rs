//! How much of the machine one run may take.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of each run; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Limits {
    /// MiB of memory of all its processes together.
    pub memory: u64,
    /// Processes at one time.
    pub processes: u64,
    /// Files that one process may have open.
    pub open_files: u64,
    /// Of 100, when the processor is not enough for everybody.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub cpu_weight: u32,
    /// MiB that the worktree, temporary files and the agent's own repository may grow to together.
    pub worktree: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 16 << 10, processes: 4096, open_files: 65_536, cpu_weight: 100, worktree: 50 << 10 }
    }
}
