//! Where a task stands in its life. A stage carries only what is true in it, and is a promise:
//! what is owed for it is read off by `owed`.

use serde::{Deserialize, Serialize};
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{AgentId, Oid, RunId, TaskId};
use swarm_protocol::operation::Landed;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// In the queue since `since`, not to be granted before `not_before`.
    Pending {
        since: Timestamp,
        not_before: Timestamp,
    },
    /// Claimed; its worktree is being made.
    Preparing {
        run: RunId,
    },
    /// The agent works: this iteration is to run, or is running.
    Active {
        run: RunId,
        iteration: u32,
    },
    /// The agent crashed; it begins again in the same worktree at `not_before`, once its old processes are gone.
    Restarting {
        agent: AgentId,
        /// The run that crashed.
        after: RunId,
        since: Timestamp,
        not_before: Timestamp,
        restart: u32,
    },
    /// The agent says it is complete; the check commands run on the tip.
    Checking {
        run: RunId,
        iteration: u32,
        tip: Oid,
    },
    /// The checks passed; the review is to run, or is running. Without a run it waits for one: the
    /// attempt's processes must be gone first, since both use the worktree.
    Review {
        tip: Oid,
        tree: Oid,
        since: Timestamp,
        not_before: Timestamp,
        run: Option<RunId>,
        /// Of a council that speaks at the same time: the others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beside: Vec<RunId>,
    },
    /// Ready for trunk, waits for its turn.
    Approved {
        tip: Oid,
        tree: Oid,
        since: Timestamp,
        not_before: Timestamp,
        waits: Option<Waits>,
    },
    /// Holds the trunk.
    Merging {
        tip: Oid,
        tree: Oid,
        since: Timestamp,
        races: u32,
        step: MergeStep,
    },
    /// On trunk, proven. Without proof when an import said so.
    Done {
        proof: Option<Proof>,
    },
    /// It was done, and its work is not on trunk any more: a person says what becomes of it.
    Gone {
        proof: Proof,
        why: String,
        since: Timestamp,
        /// Where the work lies, to be merged again; none: git has it no more.
        work: Option<Landed>,
    },
    Blocked {
        block: BlockKind,
        why: String,
        since: Timestamp,
    },
    /// The agent says that it cannot be done.
    Failed {
        why: String,
        since: Timestamp,
    },
    /// Every allowed attempt ran out of time.
    Timeout {
        why: String,
        since: Timestamp,
    },
    Deferred,
    Cancelled,
    /// Too large: done when its parts are, and trunk passes its checks.
    Split {
        parts: Vec<TaskId>,
        since: Timestamp,
        not_before: Timestamp,
    },
}

/// A finished merge that the person's checkout cannot take yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    pub why: String,
    pub paths: Vec<String>,
    pub hint: String,
}

/// What is being done while the trunk is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MergeStep {
    Building,
    /// Built, and a verification run is claimed for it.
    Verifying {
        base: Oid,
        result: Oid,
        commits: Vec<Oid>,
        run: RunId,
    },
    Publishing {
        base: Oid,
        result: Oid,
        commits: Vec<Oid>,
    },
    /// Red, and nobody knows whether trunk alone is: asked as soon as the verification's processes
    /// are gone from the merge worktree.
    Suspect {
        base: Oid,
        output: String,
    },
    /// Trunk alone is being verified; `output` is what the merged tree said.
    Trial {
        base: Oid,
        output: String,
        run: RunId,
    },
}

impl MergeStep {
    /// The verification run that the step belongs to.
    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Verifying { run, .. } | Self::Trial { run, .. } => Some(run),
            Self::Building | Self::Publishing { .. } | Self::Suspect { .. } => None,
        }
    }
}

impl Stage {
    /// The status that people and plans see.
    pub fn status(&self) -> Status {
        match self {
            Self::Pending { .. } => Status::Pending,
            Self::Preparing { .. }
            | Self::Active { .. }
            | Self::Restarting { .. }
            | Self::Checking { .. }
            | Self::Split { .. } => Status::Active,
            Self::Review { .. } => Status::Review,
            Self::Approved { .. } | Self::Merging { .. } => Status::Merging,
            Self::Done { .. } => Status::Done,
            Self::Gone { .. } => Status::Gone,
            Self::Blocked { .. } => Status::Blocked,
            Self::Failed { .. } => Status::Failed,
            Self::Timeout { .. } => Status::Timeout,
            Self::Deferred => Status::Deferred,
            Self::Cancelled => Status::Cancelled,
        }
    }

    /// The name in tables and in `docs/reference/lifecycle.md`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "Pending",
            Self::Preparing { .. } => "Preparing",
            Self::Active { .. } => "Active",
            Self::Restarting { .. } => "Restarting",
            Self::Checking { .. } => "Checking",
            Self::Review { .. } => "Review",
            Self::Approved { .. } => "Approved",
            Self::Merging { .. } => "Merging",
            Self::Done { .. } => "Done",
            Self::Gone { .. } => "Gone",
            Self::Blocked { .. } => "Blocked",
            Self::Failed { .. } => "Failed",
            Self::Timeout { .. } => "Timeout",
            Self::Deferred => "Deferred",
            Self::Cancelled => "Cancelled",
            Self::Split { .. } => "Split",
        }
    }

    /// All names, in the order of a life.
    pub const NAMES: [&'static str; 16] = [
        "Pending",
        "Preparing",
        "Active",
        "Restarting",
        "Checking",
        "Review",
        "Approved",
        "Merging",
        "Done",
        "Gone",
        "Blocked",
        "Failed",
        "Timeout",
        "Deferred",
        "Cancelled",
        "Split",
    ];

    /// The iteration that the agent is at; 0 where no agent is.
    pub fn iteration(&self) -> u32 {
        match self {
            Self::Active { iteration, .. } | Self::Checking { iteration, .. } => *iteration,
            _ => 0,
        }
    }

    /// The work run that the stage belongs to.
    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Preparing { run } | Self::Active { run, .. } | Self::Checking { run, .. } => Some(run),
            _ => None,
        }
    }

    /// The run of another kind that the stage belongs to: a review, a verification.
    pub fn judging_run(&self) -> Option<&RunId> {
        match self {
            Self::Review { run, .. } => run.as_ref(),
            Self::Merging { step, .. } => step.run(),
            _ => None,
        }
    }

    /// Of several that judge at the same time, all.
    pub fn judging_runs(&self) -> impl Iterator<Item = &RunId> {
        let beside = match self {
            Self::Review { beside, .. } => beside.as_slice(),
            _ => &[],
        };
        self.judging_run().into_iter().chain(beside)
    }

    /// The proof that its work is, or was, on trunk.
    pub fn proof(&self) -> Option<&Proof> {
        match self {
            Self::Done { proof } => proof.as_ref(),
            Self::Gone { proof, .. } => Some(proof),
            _ => None,
        }
    }

    /// Nothing more will happen to the task by itself or should.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Cancelled)
    }
}
