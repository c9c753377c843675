//! What a checkpoint holds, and a task as it was at some position of the ledger.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Landed;
use crate::ids::{AgentId, Oid, TaskId};
use crate::outcome::Gate;
use crate::plan::{BlockKind, Status};
use crate::proof::Proof;
use crate::time::Timestamp;

/// A state that can be returned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    pub name: String,
    pub at: Timestamp,
    /// The ledger position it speaks of.
    pub seq: u64,
    /// Made by the swarm itself.
    pub auto: bool,
    pub trigger: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<Oid>,
    /// The branch that was trunk then; none in ledgers of a time when it could not be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tips: BTreeMap<TaskId, Oid>,
    /// Uncommitted work, each as a commit under a ref.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dirty: BTreeMap<TaskId, Oid>,
    /// Tasks whose agent was writing while the worktree was saved.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub moving: BTreeSet<TaskId>,
    /// With the uncommitted work of every worktree.
    pub full: bool,
    /// A person (or the clock) took it off the list; its refs stay until no undo can want it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Timestamp>,
}

/// What git holds of a checkpoint: the executor's part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    pub trunk: Option<Oid>,
    pub tips: BTreeMap<TaskId, Oid>,
    pub dirty: BTreeMap<TaskId, Oid>,
    pub moving: BTreeSet<TaskId>,
}

/// A task's stage in the form that can be set back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum SavedStage {
    /// `started`: somebody let it start.
    Pending {
        started: bool,
        /// A person stopped its agent: it waits for a person's word in every mode.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        withheld: bool,
    },
    /// An agent has it. Set back as pending, with its uncommitted work and its session.
    Working,
    Review {
        tip: Oid,
        tree: Oid,
        base: Option<Oid>,
    },
    Approved {
        tip: Oid,
        tree: Oid,
        base: Option<Oid>,
    },
    Done {
        proof: Option<Proof>,
        /// What it is done by, if it was split.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<TaskId>,
    },
    Gone {
        proof: Proof,
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<Landed>,
    },
    Blocked {
        block: BlockKind,
        why: String,
        /// The stage of the work that was handed in before: there it goes on. None in ledgers of a time when it was not
        /// remembered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Box<SavedStage>>,
    },
    Failed {
        why: String,
    },
    Timeout {
        why: String,
    },
    Deferred {
        /// As with what is blocked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Box<SavedStage>>,
    },
    Cancelled,
    Split {
        parts: Vec<TaskId>,
    },
}

impl SavedStage {
    /// The status that a record shows once it is set back.
    pub fn status(&self) -> Status {
        match self {
            Self::Pending { .. } | Self::Working => Status::Pending,
            Self::Review { .. } => Status::Review,
            Self::Approved { .. } => Status::Merging,
            Self::Done { .. } => Status::Done,
            Self::Gone { .. } => Status::Gone,
            Self::Blocked { .. } => Status::Blocked,
            Self::Failed { .. } => Status::Failed,
            Self::Timeout { .. } => Status::Timeout,
            Self::Deferred { .. } => Status::Deferred,
            Self::Cancelled => Status::Cancelled,
            Self::Split { .. } => Status::Active,
        }
    }

    /// The stage that it goes on in once it is wanted again; none: it begins in the queue.
    pub fn was(&self) -> Option<&SavedStage> {
        match self {
            Self::Blocked { was, .. } | Self::Deferred { was } => was.as_deref(),
            _ => None,
        }
    }

    /// The same without what it goes on in.
    pub fn without_was(self) -> Self {
        match self {
            Self::Blocked { block, why, .. } => Self::Blocked { block, why, was: None },
            Self::Deferred { .. } => Self::Deferred { was: None },
            other => other,
        }
    }

    /// One word for people.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::Working => "active",
            Self::Review { .. } => "in review",
            Self::Approved { .. } => "approved",
            Self::Done { .. } => "done",
            Self::Gone { .. } => "gone",
            Self::Blocked { .. } => "blocked",
            Self::Failed { .. } => "failed",
            Self::Timeout { .. } => "timeout",
            Self::Deferred { .. } => "deferred",
            Self::Cancelled => "cancelled",
            Self::Split { .. } => "split",
        }
    }

    /// What a sentence says of the task: `task 1.2 is in review`.
    pub fn sentence(&self) -> String {
        match self {
            Self::Gone { .. } => Status::Gone.sentence().into(),
            Self::Failed { .. } => Status::Failed.sentence().into(),
            Self::Timeout { .. } => Status::Timeout.sentence().into(),
            other => format!("is {}", other.word()),
        }
    }
}

/// What lay in a worktree when it was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Left {
    /// Where the task's own commits begin.
    pub base: Oid,
    pub tip: Oid,
    /// What was not committed, as a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<Oid>,
}

/// A task as it was at some ledger position, without what it asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedTask {
    #[serde(flatten)]
    pub stage: SavedStage,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub waived: BTreeSet<Gate>,
    /// Where its commits begin. Under a name of its own: some stages have a `base` beside it in the same object.
    #[serde(rename = "begins", default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Oid>,
    /// A worktree was there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worktree: bool,
    /// What was given up with its worktree, and comes back with the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wip: Option<Oid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub review_rounds: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merge_rounds: u32,
    /// Commits of it that were on trunk then, while more of its work went there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub landed_before: Vec<Oid>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_saved_stage_reads_back_with_its_task() {
        let oid = || Oid::new("a".repeat(40)).expect("an oid");
        let (tip, tree, base) = (oid(), oid(), Some(oid()));
        let stages = [
            SavedStage::Pending { started: true, withheld: false },
            SavedStage::Pending { started: false, withheld: true },
            SavedStage::Review { tip: tip.clone(), tree: tree.clone(), base: base.clone() },
            SavedStage::Approved { tip: tip.clone(), tree: tree.clone(), base: base.clone() },
            SavedStage::Done { proof: None, parts: vec![] },
            SavedStage::Blocked { block: BlockKind::Human, why: "wait".into(), was: None },
            SavedStage::Blocked {
                block: BlockKind::Review,
                why: "twice".into(),
                was: Some(Box::new(SavedStage::Review {
                    tip: tip.clone(),
                    tree: tree.clone(),
                    base: base.clone(),
                })),
            },
            SavedStage::Deferred { was: None },
            SavedStage::Deferred {
                was: Some(Box::new(SavedStage::Approved { tip, tree, base: base.clone() })),
            },
            SavedStage::Split { parts: vec![] },
        ];
        for stage in stages {
            let task = SavedTask {
                stage,
                waived: BTreeSet::new(),
                base: base.clone(),
                worktree: true,
                left: None,
                wip: Some(oid()),
                session: None,
                last_agent: None,
                last_failure: Some("why".into()),
                retries: 1,
                review_rounds: 0,
                merge_rounds: 0,
                landed_before: vec![oid()],
            };
            let text = serde_json::to_string(&task).expect("it can be written");
            assert_eq!(serde_json::from_str::<SavedTask>(&text).expect(&text), task);
        }
    }
    #[test]
    fn a_stage_of_a_time_when_it_was_not_remembered_is_read_without_the_one_before() {
        for (text, wanted) in [
            (r#"{"stage":"deferred"}"#, SavedStage::Deferred { was: None }),
            (
                r#"{"stage":"blocked","block":"human","why":"wait"}"#,
                SavedStage::Blocked { block: BlockKind::Human, why: "wait".into(), was: None },
            ),
        ] {
            assert_eq!(serde_json::from_str::<SavedStage>(text).expect(text), wanted);
            assert_eq!(serde_json::to_string(&wanted).expect("it can be written"), text);
        }
    }
}
