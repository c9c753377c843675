//! What the state owes the world. Each effect has a key: the driver starts a key that is owed and
//! not in flight and cancels one in flight that is no longer owed. A changed payload of a key in flight
//! starts nothing: a new order in it is told to the daemon.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use swarm_protocol::event::Proof;
use swarm_protocol::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{Left, Plan, SurveyAsk};
use swarm_protocol::time::Timestamp;

/// What was approved, of a branch that may be changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub tip: Oid,
    /// Where the commits of the branch begin, as far as it is known.
    pub base: Option<Oid>,
    /// The branch was there when it was approved, and that is not to be merged.
    pub left_out: Option<Oid>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Worktree of the task there, ours, on its branch. Ends in `Prepared` or `PrepareFailed`, or, told to stop before it is
    /// made, in `WorkEnded`.
    /// `base`: where the task's own commits begin, as far as the ledger knows; a branch that is there keeps it.
    /// `shared`: its agent works in the tree that tasks share, and changes these files.
    Prepare {
        run: RunId,
        task: TaskId,
        from: Option<StartsFrom>,
        base: Option<Oid>,
        shared: Option<Vec<String>>,
    },
    /// The run's daemon alive or adopted, and under this order. In flight for the daemon's whole
    /// life; ends in `WorkEnded`.
    Work {
        run: RunId,
        task: TaskId,
        agent: AgentId,
        attempt: u32,
        /// How often an agent program was sent to the task, with this one.
        start: u32,
        nonce: String,
        profile: Option<String>,
        order: WorkOrder,
    },
    /// The run's process tree proven gone, its uncommitted work saved. Ends in `Stopped`.
    /// `work`: it was an agent's, so that there may be something to save.
    Stop { run: RunId, task: TaskId, nonce: String, work: bool },
    /// The merged commits built in the object database. Ends in `Built`, `BuildConflict`, `BuildEmpty`, `BuildJoined` or
    /// `EffectFailed`.
    /// `at` is the moment of the approval: it dates the new commits, so that asking twice gives the same ones.
    /// Without an agent the work is a person's. `reviewed`: what a rule decides goes to the task's branch, to be reviewed.
    /// `approval`: ends in `BranchChanged` where the branch is not what was approved.
    Build {
        task: TaskId,
        agent: Option<AgentId>,
        base: Oid,
        tip: Oid,
        at: Timestamp,
        reviewed: bool,
        approval: Option<Approval>,
    },
    /// The verification run on the merged commit. Ends in `Verified` or `VerifyLost`.
    /// `checks`: with the check commands, on the commit that the task began with.
    Verify { run: RunId, task: TaskId, nonce: String, commit: Oid, checks: bool },
    /// The review run on the submitted tip, in the task's worktree: the commands, or the agent of a profile. Ends in
    /// `Reviewed`, `ReviewAnswered` or `ReviewLost`.
    Review { run: RunId, task: TaskId, nonce: String, tip: Oid, by: Option<ReviewingAgent> },
    /// One small question to the service under this profile, in place of the task that waits. Ends in `Probed`.
    Probe { run: RunId, task: TaskId, nonce: String, group: String, profile: String },
    /// Trunk moved from `base` to `result`. Ends in `Published`, `PublishWaits`, `TrunkMoved`, `BranchChanged` or
    /// `EffectFailed`.
    Publish { task: TaskId, base: Oid, result: Oid, commits: Vec<Oid>, approval: Option<Approval> },
    /// Nothing of this task is at the trunk any more. Ends in `Released`.
    Release { task: TaskId },
    /// Waits until the person's checkout may take the merge. Ends in `CheckoutChanged`.
    Watch { task: TaskId, paths: Vec<String> },
    /// Waits until trunk is no longer at this commit; says so at once when it is not.
    /// Ends in `TrunkChanged`. Where trunk is red, `task` is the one whose merge found it out.
    WatchTrunk { task: Option<TaskId>, commit: Oid },
    /// Everything that is done looked up on trunk. Ends in `Proven`.
    Prove { tasks: BTreeMap<TaskId, Proof> },
    /// The worktree of a closed task gone by proof. Ends in `WorktreeRemoved` or `WorktreeKept`.
    /// `remember`: it may be wanted back, and a name for this removal, like no other of the task's.
    /// `merged`: the tip of its branch that is on trunk; what came after it keeps the worktree.
    Remove { task: TaskId, remember: Option<u64>, merged: Option<Oid> },
    /// What was given up with the worktree lies there again, now that the task is open. Ends in `Revived`.
    Revive { task: TaskId, left: Left },
    /// Git and the ledger looked at for an operation; nothing is changed. Ends in `Surveyed`.
    Survey { op: CommandId, ask: SurveyAsk },
    /// A full checkpoint: refs first, then its file. Ends in `Saved` or `NotSaved`.
    Save { name: String, at: Timestamp, op: Option<CommandId> },
    /// A light checkpoint: one ref transaction. Ends in `Saved` or `NotSaved`.
    Mark { name: String, at: Timestamp },
    /// The plan of an operation carried out, each step safe to repeat. Ends in `Moved`, `MoveConflict` or `MoveRefused`.
    Move { op: CommandId, plan: Plan },
    /// An agent asked what is to become of files in which its reverts conflict, and the answer kept for `Move`, which has it
    /// verified. `why`: what the last answer lacked. Ends in `Resolved`.
    Resolve { op: CommandId, plan: Plan, task: TaskId, profile: String, round: u32, why: Option<String> },
    /// Refs and file of a checkpoint that nothing refers to any more gone. Ends in `Forgotten`.
    Forget { name: String },
    /// The worktree back to `to`, where a killed iteration began; its changes to a ref. Ends in `Rewound`.
    Rewind { task: TaskId, run: RunId, to: Option<Oid> },
    /// A hook of the user's. Ends in `HookEnded`.
    Hook { n: u64, hook: String, subject: Option<String>, variables: BTreeMap<String, String> },
}

/// Where the branch of a part begins, when it is made: at the tip of the whole's branch, with what the
/// whole had not committed. Its base is the whole's, so that the commits that are there already go to
/// trunk with the part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartsFrom {
    pub task: TaskId,
    pub base: Oid,
    pub wip: Option<Oid>,
}

/// How the daemon of a work run should be now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkOrder {
    /// `session`: the program's session to go on with; none: a fresh one.
    Go {
        iteration: u32,
        session: Option<String>,
    },
    /// `waived`, `scan_waived`: the commands of that gate are passed over, on a person's word.
    Check {
        iteration: u32,
        waived: bool,
        scan_waived: bool,
    },
    Hold,
    Drain,
}

/// Which agent reviews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewingAgent {
    pub profile: String,
    /// As whom of the council.
    pub member: Option<String>,
    /// Its conversation about this plan goes on; never that of whoever did the work.
    pub session: Option<String>,
    pub round: u32,
}

/// Names the promise, not its payload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Stop(RunId),
    /// Before whatever is granted, built or marked: it may rest on what has gone.
    Prove,
    /// Before whatever is built onto the trunk that it marks.
    Mark(String),
    Prepare(RunId),
    Work(RunId),
    Verify(RunId),
    Review(RunId),
    Probe(RunId),
    Build(TaskId),
    Publish(TaskId),
    Release(TaskId),
    Watch(TaskId),
    WatchTrunk(Oid),
    Remove(TaskId),
    Revive(TaskId),
    Survey(CommandId),
    Save(String),
    Move(CommandId),
    Resolve(CommandId),
    Forget(String),
    Rewind(TaskId),
    Hook(u64),
}

impl Key {
    /// It waits for somebody else and holds nothing up: a swarm at rest may have it in flight.
    pub fn is_watch(&self) -> bool {
        matches!(self, Self::WatchTrunk(_))
    }
}

/// Effects of one lane share a bound; within a lane they are carried out one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// One at a time: whoever holds the trunk.
    Trunk,
    /// Worktree administration, one at a time: git's own locks do not bear more.
    Worktrees,
    /// What concerns one run, in order: its stop waits until its work has reported.
    Run(RunId),
    /// No bound beyond the number of tasks that wait.
    Waiting(TaskId),
    /// One watch on a red trunk.
    TrunkWatch,
    /// Reading for operations, and checkpoints while nothing moves, one at a time.
    Operation,
    /// Refs of old checkpoints, one at a time.
    Checkpoints,
    /// A hook each.
    Hook(u64),
}

impl Effect {
    pub fn key(&self) -> Key {
        match self {
            Self::Prepare { run, .. } => Key::Prepare(run.clone()),
            Self::Work { run, .. } => Key::Work(run.clone()),
            Self::Stop { run, .. } => Key::Stop(run.clone()),
            Self::Verify { run, .. } => Key::Verify(run.clone()),
            Self::Review { run, .. } => Key::Review(run.clone()),
            Self::Probe { run, .. } => Key::Probe(run.clone()),
            Self::Build { task, .. } => Key::Build(task.clone()),
            Self::Publish { task, .. } => Key::Publish(task.clone()),
            Self::Release { task } => Key::Release(task.clone()),
            Self::Watch { task, .. } => Key::Watch(task.clone()),
            Self::WatchTrunk { commit, .. } => Key::WatchTrunk(commit.clone()),
            Self::Remove { task, .. } => Key::Remove(task.clone()),
            Self::Revive { task, .. } => Key::Revive(task.clone()),
            Self::Survey { op, .. } => Key::Survey(op.clone()),
            Self::Save { name, .. } => Key::Save(name.clone()),
            Self::Mark { name, .. } => Key::Mark(name.clone()),
            Self::Move { op, .. } => Key::Move(op.clone()),
            Self::Resolve { op, .. } => Key::Resolve(op.clone()),
            Self::Forget { name } => Key::Forget(name.clone()),
            Self::Rewind { task, .. } => Key::Rewind(task.clone()),
            Self::Hook { n, .. } => Key::Hook(*n),
            Self::Prove { .. } => Key::Prove,
        }
    }

    /// The task it is about; operations, checkpoints and hooks are about none.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Prepare { task, .. }
            | Self::Work { task, .. }
            | Self::Stop { task, .. }
            | Self::Verify { task, .. }
            | Self::Review { task, .. }
            | Self::Probe { task, .. }
            | Self::Build { task, .. }
            | Self::Publish { task, .. }
            | Self::Release { task }
            | Self::Watch { task, .. }
            | Self::Rewind { task, .. }
            | Self::Remove { task, .. }
            | Self::Revive { task, .. } => Some(task),
            Self::WatchTrunk { task, .. } => task.as_ref(),
            Self::Survey { .. }
            | Self::Save { .. }
            | Self::Mark { .. }
            | Self::Move { .. }
            | Self::Resolve { .. }
            | Self::Forget { .. }
            | Self::Prove { .. }
            | Self::Hook { .. } => None,
        }
    }

    pub fn lane(&self) -> Lane {
        match self {
            Self::Build { .. }
            | Self::Publish { .. }
            | Self::Release { .. }
            | Self::Mark { .. }
            | Self::Prove { .. }
            | Self::Resolve { .. }
            | Self::Move { .. } => Lane::Trunk,
            Self::Survey { .. } | Self::Save { .. } => Lane::Operation,
            Self::Forget { .. } => Lane::Checkpoints,
            Self::Hook { n, .. } => Lane::Hook(*n),
            Self::Remove { .. } | Self::Revive { .. } => Lane::Worktrees,
            Self::Prepare { run, .. }
            | Self::Work { run, .. }
            | Self::Stop { run, .. }
            | Self::Verify { run, .. }
            | Self::Review { run, .. }
            | Self::Rewind { run, .. }
            | Self::Probe { run, .. } => Lane::Run(run.clone()),
            Self::Watch { task, .. } => Lane::Waiting(task.clone()),
            Self::WatchTrunk { .. } => Lane::TrunkWatch,
        }
    }

    /// The bare verb, for tables.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Prepare { .. } => "Prepare",
            Self::Work { .. } => "Work",
            Self::Stop { .. } => "Stop",
            Self::Verify { .. } => "Verify",
            Self::Review { .. } => "Review",
            Self::Probe { .. } => "Probe",
            Self::Build { .. } => "Build",
            Self::Publish { .. } => "Publish",
            Self::Release { .. } => "Release",
            Self::Watch { .. } => "Watch",
            Self::WatchTrunk { .. } => "WatchTrunk",
            Self::Remove { .. } => "Remove",
            Self::Revive { .. } => "Revive",
            Self::Survey { .. } => "Survey",
            Self::Save { .. } => "Save",
            Self::Mark { .. } => "Mark",
            Self::Move { .. } => "Move",
            Self::Resolve { .. } => "Resolve",
            Self::Forget { .. } => "Forget",
            Self::Rewind { .. } => "Rewind",
            Self::Hook { .. } => "Hook",
            Self::Prove { .. } => "Prove",
        }
    }
}
