//! Arguments of tools that change something. Each takes an `id`: sent twice with the same one, it is done once.

mod planning;

use schemars::JsonSchema;
use serde::Deserialize;
use swarm_protocol::ids::{AgentId, CommandId, Oid, TaskId};
use swarm_protocol::outcome::{Mode, PauseReason};

use super::{mode, pause};
pub use planning::{EditArgs, EditDo, PhaseArgs, PlanArgs, PlanDo, SavePlanArgs, StatusArgs};

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitArgs {
    /// How tasks are kept apart: worktree (each has its own) or reservation (one tree, and each changes the files that it reserves). Stands in a new configuration
    pub isolation: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunDo {
    /// Let `tasks` start, or all that are ready
    Start,
    /// End a pause
    Resume,
    /// Set the mode
    Mode,
    /// Tell the agent of `task` something at its next boundary
    Message,
    /// Put `agent` back into service
    Revive,
    /// As much again may be spent by `task`, or by the swarm
    ExtendBudget,
    /// Take the quota of `group` for restored
    OpenQuota,
    /// Mark the attention entry `entry` as seen
    Seen,
    /// Go on after an abort
    Retry,
    /// Free the files of reservation `number`
    Release,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunArgs {
    #[serde(rename = "do")]
    pub deed: RunDo,
    /// For start
    #[schemars(with = "Vec<String>")]
    #[serde(default)]
    pub tasks: Vec<TaskId>,
    /// For message and extend_budget
    #[schemars(with = "Option<String>")]
    pub task: Option<TaskId>,
    /// For message
    pub text: Option<String>,
    /// For resume (default: user)
    #[schemars(schema_with = "pause")]
    #[serde(default)]
    pub reason: Option<PauseReason>,
    /// For mode
    #[schemars(schema_with = "mode")]
    #[serde(default)]
    pub mode: Option<Mode>,
    /// For revive
    #[schemars(with = "Option<String>")]
    pub agent: Option<AgentId>,
    /// For open_quota
    pub group: Option<String>,
    /// For release
    pub number: Option<u64>,
    /// For seen: the entry's `seen_by`
    pub entry: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopDo {
    /// Start nothing new; iterations end at their boundary
    Pause,
    /// Stop the agent of `task`; the task goes back to the queue
    Stop,
    /// The same at once; its worktree goes back to where the iteration began
    Kill,
    /// Block `task`, with a reason
    Block,
    /// The agent of `task` takes up `to` instead
    Redirect,
    /// Keep the quota of `group` closed
    HoldQuota,
    /// Reserve `files`: agents' work in them waits
    Reserve,
    /// End the swarm: agents to their boundary, then the coordinator
    Drain,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopArgs {
    #[serde(rename = "do")]
    pub deed: StopDo,
    /// For stop, kill, block and redirect
    #[schemars(with = "Option<String>")]
    pub task: Option<TaskId>,
    /// For redirect
    #[schemars(with = "Option<String>")]
    pub to: Option<TaskId>,
    /// For redirect: the other task begins with this one's work
    #[serde(default)]
    pub same_worktree: bool,
    /// Why; needed for block
    pub reason: Option<String>,
    /// For pause: also stop those who have not reached their boundary
    #[serde(default)]
    pub force: bool,
    /// For hold_quota
    pub group: Option<String>,
    /// For reserve: globs; all of them, or none is reserved
    #[serde(default)]
    pub files: Vec<String>,
    /// For reserve: others may share them, and nobody may reserve them
    #[serde(default)]
    pub shared: bool,
    /// For reserve: seconds (default: as configured)
    pub seconds: Option<u64>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointDo {
    Make,
    Delete,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointArgs {
    #[serde(rename = "do")]
    pub deed: CheckpointDo,
    /// Name (make: default is the moment)
    pub name: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RollbackTo {
    /// Everything back to the checkpoint `name`
    Checkpoint,
    /// The work of `task` out of trunk, or off its branch
    Task,
    /// Everything back to the beginning of the session
    Session,
    /// Agents stopped, trunk back to where it was; all is kept for a retry
    Abort,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackArgs {
    pub to: RollbackTo,
    /// With to: checkpoint
    pub name: Option<String>,
    /// With to: task
    #[schemars(with = "Option<String>")]
    pub task: Option<TaskId>,
    /// With to: task: also every task that builds on it
    #[serde(default)]
    pub cascade: bool,
    /// Also remove a person's own commits from trunk; they are kept under a ref
    #[serde(default)]
    pub drop_foreign: bool,
    /// Save local changes that are in the way to a ref
    #[serde(default)]
    pub save_local: bool,
    /// What the preview answered; without it this is the preview
    pub expect: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoArgs {
    /// Operation to take back (default: the newest of a person)
    #[schemars(with = "Option<String>")]
    pub operation: Option<CommandId>,
    /// Take back an undo instead
    #[serde(default)]
    pub redo: bool,
    /// What has changed since stays; the rest is set back
    #[serde(default)]
    pub partial: bool,
    /// What the preview answered; without it this is the preview
    pub expect: Option<String>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approve,
    NeedsChanges,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub text: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
    pub verdict: Verdict,
    /// For needs_changes: what is to be changed
    #[serde(default)]
    pub issues: Vec<Issue>,
    /// For approve: the commit that you reviewed, as `to` of swarm_diff (default: the submitted one)
    #[schemars(with = "Option<String>")]
    pub commit: Option<Oid>,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
    /// Chosen by you: with the same id it is done once
    #[schemars(with = "Option<String>")]
    pub id: Option<CommandId>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeCreateArgs {
    /// Task id, like 1.2
    #[schemars(with = "String")]
    pub task: TaskId,
    /// Commit to start a new branch at (default: trunk)
    pub from: Option<String>,
}
