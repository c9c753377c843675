//! What is done by hand beside the ledger: worktrees, saved work, hooks, repairs; and what lies there to be looked at.
//!
//! ```
//! use swarm_protocol::deed::Deed;
//!
//! let deed: Deed = serde_json::from_str(r#"{"do":"restore","name":"1.2"}"#)?;
//! assert_eq!((deed.kind(), deed.subject()), ("restore", Some("1.2".to_owned())));
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::{Actor, Answer};
use crate::doctor::DoctorView;
use crate::ids::{CommandId, TaskId};
use crate::operation::HookOutcome;
use crate::oplog::HookView;

/// A wish that is no command of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    /// Makes the worktree of a task, or puts the one that is there in order.
    CreateWorktree {
        task: TaskId,
        /// Where a new branch begins; trunk when it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    /// Submits the commits in the worktree of a task.
    MergeWorktree { task: TaskId },
    /// Removes the worktree of a task by proof, or says why it stays.
    CleanUpWorktree {
        task: TaskId,
        /// Also one with files that may be of value: the whole folder is kept.
        #[serde(default)]
        force: bool,
    },
    /// Brings saved work back on a new branch and in a new folder.
    Restore {
        /// A task, or a name from the list.
        name: String,
    },
    /// Runs a hook once. Nothing is recorded.
    RunHook {
        hook: String,
        /// Without `SWARM_`.
        #[serde(default)]
        variables: BTreeMap<String, String>,
    },
    /// Repairs what can be repaired without losing anything.
    Fix,
}

impl Deed {
    /// As it is typed behind `swarm`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CreateWorktree { .. } => "worktree create",
            Self::MergeWorktree { .. } => "worktree merge",
            Self::CleanUpWorktree { .. } => "worktree cleanup",
            Self::Restore { .. } => "restore",
            Self::RunHook { .. } => "hooks run",
            Self::Fix => "doctor --fix",
        }
    }

    pub fn subject(&self) -> Option<String> {
        match self {
            Self::CreateWorktree { task, .. }
            | Self::MergeWorktree { task }
            | Self::CleanUpWorktree { task, .. } => Some(task.to_string()),
            Self::Restore { name } | Self::RunHook { hook: name, .. } => Some(name.clone()),
            Self::Fix => None,
        }
    }

    /// What shows whether it was done, where no answer came.
    pub fn shown_by(&self) -> String {
        match self {
            Self::CreateWorktree { .. } | Self::CleanUpWorktree { .. } => "swarm worktree list".into(),
            Self::MergeWorktree { task } => format!("swarm task show {task}"),
            Self::Restore { .. } => "swarm restore".into(),
            Self::RunHook { .. } => "swarm hooks list".into(),
            Self::Fix => "swarm doctor".into(),
        }
    }
}

/// A deed as a client sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeedRequest {
    /// The client's own name for it, 1 to 64 letters. Asked again with the same one, it is done once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<CommandId>,
    /// Through which front end a person came, as with commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    pub deed: Deed,
}

/// What came of a deed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeedDone {
    /// One sentence for people.
    pub text: String,
    #[serde(flatten)]
    pub done: Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "did", content = "view", rename_all = "snake_case")]
pub enum Done {
    CreateWorktree(WorktreeMade),
    MergeWorktree(Answer),
    CleanUpWorktree(CleanedUp),
    Restore(RestoredView),
    RunHook(HookRan),
    Fix(DoctorView),
}

/// A worktree of the swarm, or a folder that lies among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WorktreeView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// From the root of the repository.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Who works in it, or what becomes of it.
    pub state: String,
    /// Files that differ from the branch, or are not tracked; none where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WorktreeMade {
    pub task: TaskId,
    pub path: String,
    pub branch: String,
    pub tip: String,
    /// False: it was there.
    pub created: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CleanedUp {
    pub task: TaskId,
    pub removed: bool,
    pub dry_run: bool,
    /// Why it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What `swarm restore` knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
}

/// Something that was saved and can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SavedView {
    /// What to ask for.
    pub name: String,
    pub task: String,
    /// Why it was saved.
    pub what: String,
    pub age_secs: u64,
    /// Those that trunk does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    pub subject: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RestoredView {
    pub name: String,
    pub path: String,
    /// None for a folder whose commit is not known.
    pub branch: Option<String>,
}

/// A hook that there is, and its last end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookProgram {
    pub hook: String,
    pub program: String,
    pub timeout_secs: Option<u64>,
    pub blocking: bool,
    /// Why it cannot be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<HookView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HookRan {
    pub hook: String,
    pub outcome: HookOutcome,
    pub output: String,
}

/// What agents found worth remembering.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LearningsView {
    /// What every agent is told.
    pub all: Vec<String>,
    /// What only agents of one name are told.
    pub personas: BTreeMap<String, Vec<String>>,
}

/// A template of what agents are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PromptView {
    pub name: String,
    /// Where the team's own lies, or would lie.
    pub path: String,
    /// It is the team's own, not the one that is built in.
    pub own: bool,
    pub text: String,
}
