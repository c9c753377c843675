//! Interventions as records: what they asked, what was found, what is to be moved, and every fact
//! that they changed with its value before and after.

mod fact;
mod saved;
mod taken_back;

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conflict::Resolved;
use crate::ids::{CommandId, Oid, TaskId};
use crate::time::Timestamp;

pub use fact::{Fact, TaskPart};
pub use saved::{Checkpoint, Left, Saved, SavedStage, SavedTask};

/// One fact that an operation changed: `task/1.2/stage`, `mode`, `ref/refs/heads/main` …
/// Absent: there was (or is) no such thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FactChange {
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub fact: Fact,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What is asked of an operation that moves git as well as the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Request {
    /// A full checkpoint under this name.
    Checkpoint { name: String },
    /// Everything back to a checkpoint.
    Rollback { to: String, force: Force },
    /// The merged work of these tasks out of trunk again, or their branches back to their base.
    RollbackTask { tasks: Vec<TaskId>, force: Force },
    /// Agents stopped, trunk back to where the session began, merged work kept for another try.
    Abort { to: String, force: Force },
    /// The facts of an operation back to what they were before it.
    Undo { operation: CommandId, partial: bool, force: Force },
    /// Finished work goes to this branch from here on. `start`: where it is made if there is none.
    Trunk {
        to: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<Oid>,
    },
}

/// What a person allows that would be refused otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Force {
    /// Commits of a person go too; they stay under a ref.
    pub drop_foreign: bool,
    /// Local changes in the way are put on a ref.
    pub save_local: bool,
    /// For an undo: what agents have begun since with the tasks it is about is kept in its checkpoint and set aside.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub set_aside: bool,
}

/// What a survey is to look at. Made from the state, so that a preview asks the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SurveyAsk {
    /// The ledger position whose tasks are compared with the present ones; none: none are.
    pub at: Option<u64>,
    /// Where trunk was and should be again; none: only its tip and the commits below are looked at.
    pub trunk: Option<Oid>,
    /// Commits that may have to be reverted, newest first. With `trunk`: all of the swarm's, in any order; those since
    /// then are meant.
    pub revert: Vec<Oid>,
    /// Those of them whose work was not on trunk when git was asked last.
    pub gone: BTreeSet<Oid>,
    /// Commits of a person go too, if there are any.
    pub drop_foreign: bool,
    /// Commits that may have to be brought back, oldest first.
    pub pick: Vec<Oid>,
    /// Tasks whose branch and worktree are looked at; with `at` also those that differ.
    pub tasks: Vec<TaskId>,
    /// Merged tasks and their commits, oldest first: which of them are on trunk under another name?
    pub rewritten: BTreeMap<TaskId, Vec<Oid>>,
    /// Merged tasks and their commits on trunk, oldest first: `landed` is wanted of them.
    pub landed: BTreeMap<TaskId, Vec<Oid>>,
    /// Commits that may be gone back to: are they still there?
    pub needs: Vec<Oid>,
    /// A branch that is to become trunk: which of `landed` does it have?
    pub other: Option<String>,
    /// Where that branch begins, if it is to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_from: Option<Oid>,
}

/// What git and the ledger say. Read-only: a preview takes the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Survey {
    /// The branch.
    pub trunk: String,
    pub now: Option<Oid>,
    /// Commits of `ask.trunk..now`, newest first; without `ask.trunk` from the oldest of `ask.revert` on.
    pub since: Vec<TrunkCommit>,
    /// Commits of `now..ask.trunk`, oldest first: they would come (back) to trunk.
    pub ahead: Vec<TrunkCommit>,
    /// `ask.trunk` is not there, or no relative of trunk.
    pub unrelated: bool,
    /// Trunk is checked out somewhere.
    pub checked_out: bool,
    /// A checkout cannot follow, whatever its files are (a merge is under way, its folder is gone): why, and what helps.
    pub busy: Option<(String, String)>,
    /// Local changes to files that would change.
    pub local: Vec<String>,
    /// Task branches as they are.
    pub tips: BTreeMap<TaskId, Oid>,
    /// Uncommitted work, saved as commits that nothing names: the same content on the same tip is the same commit.
    pub dirty: BTreeMap<TaskId, Oid>,
    /// Where merged work lies: `base..tip` are the task's commits on trunk.
    pub landed: BTreeMap<TaskId, Landed>,
    /// Commits of `ask.rewritten` that are not in trunk's history, though what they changed is there: somebody amended or
    /// rebased them. Newest first.
    pub rewritten: BTreeMap<TaskId, Vec<Oid>>,
    /// Where there are some: commits of trunk with `rewritten` in their places among them, newest first.
    pub order: Vec<Oid>,
    /// Reverts of ours among `since` that took back what somebody had rewritten: without them it would be on trunk again.
    pub stay: BTreeSet<Oid>,
    /// Tasks that differ from then; none: it did not exist then.
    pub tasks: BTreeMap<TaskId, Option<SavedTask>>,
    /// Those of `ask.needs` that are not in the repository any more.
    pub missing: Vec<Oid>,
    /// What was found of `ask.other`.
    pub other: Option<OtherBranch>,
}

/// A branch that is to become trunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherBranch {
    /// None: there is no such branch.
    pub tip: Option<Oid>,
    /// Merged tasks whose commits it has, all of them.
    pub has: BTreeSet<TaskId>,
}

/// A commit between trunk then and trunk now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrunkCommit {
    pub oid: Oid,
    pub subject: String,
    /// A remote-tracking ref has it.
    pub pushed: bool,
    /// The commits that it reverts, by its message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverts: Vec<Oid>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Landed {
    pub base: Oid,
    pub tip: Oid,
    pub tree: Oid,
    /// Commits of it that trunk has all the same, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stands: Vec<Oid>,
}

/// The intent of an operation: everything that it will move, and where the old is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The checkpoint that is made before anything moves.
    pub checkpoint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<TrunkMove>,
    /// Task branches, each only if it still is at `old`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefMove>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worktrees: Vec<WorktreeMove>,
    /// Facts of the plan and the swarm, as they will be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactChange>,
    /// What tasks get back besides their facts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<TaskId, SavedTask>,
    /// Local changes that are put on a ref first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub save_local: Vec<String>,
    /// Local changes that an operation which is taken back had put on this ref come back, where nothing changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// For people: what happens to commits, tasks and work, and what stays as it is.
    pub says: Says,
    /// Dates new commits, so that asking twice gives the same ones.
    pub at: Timestamp,
}

/// The ref that an operation puts a person's local changes on. Named by its checkpoint, so that a preview can say it.
pub fn local_ref(checkpoint: &str) -> String {
    format!("refs/swarm/local/{checkpoint}")
}

impl Plan {
    /// Whether carrying it out would leave everything as it is.
    pub fn moves_nothing(&self) -> bool {
        self.trunk.is_none()
            && self.refs.is_empty()
            && self.worktrees.is_empty()
            && self.facts.is_empty()
            && self.tasks.is_empty()
            && self.save_local.is_empty()
    }
}

/// The preview, in lines for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Says {
    pub tasks: Vec<String>,
    pub commits: Vec<String>,
    pub work: Vec<String>,
    /// Commits of a person that go (and where they are kept), or stay.
    pub foreign: Vec<String>,
    /// Consequences that no undo takes back.
    pub stays: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TrunkMove {
    pub branch: String,
    pub old: Oid,
    #[serde(flatten)]
    pub how: TrunkHow,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum TrunkHow {
    /// To a commit that exists: back, or forward again.
    Set { new: Oid },
    /// Reverts (newest first), then picks (oldest first) on top of it, published once.
    Rebuild { revert: Vec<Oid>, pick: Vec<Oid> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RefMove {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Oid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Oid>,
}

/// What becomes of a task's worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WorktreeMove {
    pub task: TaskId,
    #[serde(flatten)]
    pub to: WorktreeTo,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum WorktreeTo {
    /// On its branch at `tip`, with the uncommitted work of the saved commit if there is one.
    Restored { base: Option<Oid>, tip: Oid, dirty: Option<Oid> },
    /// On its branch at `tip`, nothing uncommitted. Only in old ledgers: it does not say where the task's commits begin.
    Clean { tip: Oid },
    /// Not needed any more: removed by proof.
    Gone,
}

/// How the plan was carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Moved {
    /// Where trunk is now, if it moved.
    pub trunk: Option<Oid>,
    /// Commits that were made for it: reverts, picks.
    pub made: Vec<Oid>,
    /// Commits that were brought back, by the name they had before.
    pub brought: BTreeMap<Oid, Oid>,
    /// Uncommitted work that the worktrees held before, saved: task → commit.
    pub dirty: BTreeMap<TaskId, Oid>,
    /// The ref that holds the person's local changes, if any were in the way.
    pub local: Option<String>,
    /// What conflicted when commits were taken back, and what decided it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Resolved>,
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum HookOutcome {
    Ok,
    Failed {
        code: Option<i32>,
    },
    TimedOut,
    /// There is none of this name, or it cannot be executed.
    NotStarted {
        why: String,
    },
    /// The coordinator died while it ran; nobody knows how far it came.
    Interrupted,
}

impl HookOutcome {
    /// A few words for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Ok => "passed".into(),
            Self::Failed { code: Some(code) } => format!("failed with exit code {code}"),
            Self::Failed { code: None } => "ended by a signal".into(),
            Self::TimedOut => "took too long and was ended".into(),
            Self::NotStarted { why } => format!("not started: {why}"),
            Self::Interrupted => "interrupted: the coordinator ended while it ran".into(),
        }
    }
}

/// What the core must know of a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HookRule {
    pub name: String,
    /// Its failure refuses what it stands before.
    pub blocking: bool,
}
