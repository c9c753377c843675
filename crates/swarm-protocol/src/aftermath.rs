//! What the end of an attempt leaves behind, as it was decided when it happened: a replay takes it in and does not
//! decide it again, whatever the rules are by then.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Aftermath {
    /// It was a crash of its agent, of which this is known now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<CrashRecord>,
    /// Crashes of the task's agents since it was last handed to one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub task_crashes: u32,
    /// What is counted once more for the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counted>,
    /// The attempt is not over: whoever takes the task up next goes on with it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub goes_on: bool,
    /// The program's session is not gone on with.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fresh_session: bool,
    /// The group whose allowance it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<String>,
    /// The profile that was not allowed to do what the task needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<String>,
    /// Failures to set a worktree up, alike and in a row, with this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupRecord>,
}

/// What is known of an agent after a crash. The crash itself is one of those that are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashRecord {
    /// One after the other, without a stable run between them.
    pub in_a_row: u32,
    /// So many of the newest stay remembered.
    pub remembered: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// A failure that is nobody's fault.
    Transient,
    /// An answer that was refused or cut.
    OnceMore,
    /// A context window that was full.
    Overflow,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupRecord {
    /// What was said, without the name of the task.
    pub text: String,
    pub count: u32,
    /// The worktree itself was there: the commands that prepare it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commands: bool,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}
