//! What comes in: wishes of people, reports of executors, the clock, and the coordinator's own coming and going.

mod key_name;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::{Answered, IterationOutcome};
use swarm_protocol::command::Envelope;
use swarm_protocol::conflict::Resolved;
use swarm_protocol::event::{Event, Proof, Standing};
use swarm_protocol::failure::{Failure, Usage};
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{HookOutcome, Landed, Left, Moved, Saved, Survey};
use swarm_protocol::outcome::{Ended, Gate};
use swarm_protocol::policy::Policy;

pub use key_name::KeyName;

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Command(Envelope),
    Report(Report),
    /// A moment that `wakes_at` named has come.
    Tick,
    /// A coordinator took over; `epoch` is one more than the state's.
    Started {
        epoch: u64,
        version: String,
        host: String,
        trunk: String,
        policy: Policy,
    },
    /// The coordinator leaves in good order.
    Leaving,
    /// What the ledger found out about itself when it was opened: `LedgerCut`, `LedgerRepaired` or `LedgerLoss`.
    Found(Event),
}

/// What an executor has to say about an effect. Every effect ends in exactly one of these (a `Work` may
/// report boundaries and checks on its way).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Report {
    Prepared {
        run: RunId,
        branch: String,
        base: Oid,
        tip: Oid,
    },
    /// `setup`: trying again will not help without a person.
    PrepareFailed {
        run: RunId,
        why: String,
        setup: bool,
    },
    /// The daemon said hello for the first time (or was adopted).
    Spawned {
        run: RunId,
        host: String,
    },
    Boundary {
        run: RunId,
        iteration: u32,
        outcome: IterationOutcome,
        tip: Option<Oid>,
        note: Option<String>,
        usage: Usage,
        session: Option<String>,
        /// The ledger position that the iteration's prompt was written at.
        known: u64,
    },
    /// An agent learned something: `LEARNING` for itself, `LEARNING_GLOBAL` for all.
    Learned {
        run: RunId,
        signal: String,
        text: String,
    },
    /// Worth a line in the history.
    Noted {
        run: RunId,
        text: String,
    },
    /// An agent asks for files besides those of its task. Where they cannot be had it was told so.
    NeedsFiles {
        run: RunId,
        files: Vec<String>,
        shared: bool,
    },
    /// The probe of a used-up allowance ended; without a failure the service answers again.
    Probed {
        run: RunId,
        failure: Option<Failure>,
    },
    /// The room on the disk passed one of its two marks.
    Disk {
        low: bool,
        why: String,
    },
    Checked {
        run: RunId,
        iteration: u32,
        passed: bool,
        tip: Oid,
        tree: Oid,
        output: String,
        gate: Option<Gate>,
    },
    /// The daemon of a work run is no more.
    WorkEnded {
        run: RunId,
        how: Ended,
    },
    /// `session`: of the program that was broken off, by which the next attempt can go on.
    Stopped {
        run: RunId,
        wip: Option<Oid>,
        #[serde(default)]
        session: Option<String>,
    },
    Built {
        task: TaskId,
        base: Oid,
        result: Oid,
        commits: Vec<Oid>,
        squashed: bool,
        /// What conflicted and was resolved.
        #[serde(default)]
        resolved: Vec<Resolved>,
        /// Protected files that it changes.
        #[serde(default)]
        protected: Vec<String>,
        /// All files that it changes.
        #[serde(default)]
        changed: Vec<String>,
        /// Commits that have work of the task which trunk had already.
        #[serde(default)]
        found: Vec<Oid>,
    },
    /// Rules decided what conflicted with trunk at `base`. The branch is at `tip`, which has trunk and the decisions in it.
    BuildJoined {
        task: TaskId,
        base: Oid,
        tip: Oid,
        tree: Oid,
        resolved: Vec<Resolved>,
    },
    /// The branch is at another tree than what was approved, and nothing was built or published. `base`: its commits
    /// begin somewhere else than before, since somebody rebased it.
    BranchChanged {
        task: TaskId,
        tip: Oid,
        tree: Oid,
        #[serde(default)]
        base: Option<Oid>,
    },
    /// `why`: a command that was to make some of the files again did not.
    BuildConflict {
        task: TaskId,
        paths: Vec<String>,
        #[serde(default)]
        why: Option<String>,
    },
    /// Nothing on the branch that trunk does not have already; `trunk` is where it was seen. `found`: commits of the
    /// branch that change something; none: it changes nothing at all.
    BuildEmpty {
        task: TaskId,
        trunk: String,
        commit: Oid,
        found: Vec<Oid>,
    },
    /// Everything that is done was looked up on trunk at this commit: what is not there, and what is there under
    /// other names than it was merged with.
    Proven {
        commit: Oid,
        missing: BTreeMap<TaskId, Missing>,
        standing: BTreeMap<TaskId, Standing>,
    },
    Verified {
        run: RunId,
        task: TaskId,
        passed: bool,
        output: String,
    },
    VerifyLost {
        run: RunId,
        task: TaskId,
        why: String,
    },
    /// The review commands ended.
    Reviewed {
        run: RunId,
        task: TaskId,
        passed: bool,
        output: String,
    },
    /// The agent that reviews was asked.
    ReviewAnswered {
        run: RunId,
        task: TaskId,
        answered: Answered,
    },
    /// The review run broke before it had a verdict.
    ReviewLost {
        run: RunId,
        task: TaskId,
        why: String,
    },
    Published {
        task: TaskId,
        proof: Proof,
    },
    PublishWaits {
        task: TaskId,
        why: String,
        paths: Vec<String>,
        hint: String,
    },
    TrunkMoved {
        task: TaskId,
        now: Oid,
    },
    Released {
        task: TaskId,
    },
    CheckoutChanged {
        task: TaskId,
    },
    /// Trunk is no longer at the commit that was watched.
    TrunkChanged {
        commit: Oid,
        now: Oid,
    },
    /// `left`: what was in it, where that was asked for.
    WorktreeRemoved {
        task: TaskId,
        left: Option<Left>,
    },
    WorktreeKept {
        task: TaskId,
        why: String,
    },
    /// `base`: where its commits begin; none: there was nothing to bring back.
    Revived {
        task: TaskId,
        base: Option<Oid>,
    },
    /// Something of a person's is in the way of what is to come back. `hint`: the command that helps.
    NotRevived {
        task: TaskId,
        why: String,
        hint: Option<String>,
    },
    /// An agent tried what is not its to do; it was refused or put right.
    Overstep {
        task: TaskId,
        run: Option<RunId>,
        what: String,
    },
    /// The branch of a task was not where its own worktree left it, and is put right. Whoever did that left no name.
    Righted {
        task: TaskId,
        what: String,
    },
    /// The world failed the executor (git, disk): asked again after a while.
    EffectFailed {
        key: KeyName,
        task: TaskId,
        why: String,
    },
    /// The executor was told to stop before its point of no return and did.
    Cancelled {
        task: TaskId,
    },
    Surveyed {
        op: CommandId,
        survey: Box<Survey>,
    },
    /// The refs of the checkpoint are durable.
    Saved {
        name: String,
        saved: Saved,
    },
    NotSaved {
        name: String,
        why: String,
    },
    /// All that the plan names has moved.
    Moved {
        op: CommandId,
        moved: Moved,
    },
    /// A revert (or a pick) does not apply; trunk is untouched. `asks`: an agent could say what is to become of the files.
    MoveConflict {
        op: CommandId,
        paths: Vec<String>,
        why: Option<String>,
        asks: bool,
    },
    /// What an agent made of the files in conflict is kept, or why it is not. `failure`: of its program. `stopped`: somebody wants
    /// to wait for it no longer.
    Resolved {
        op: CommandId,
        why: Option<String>,
        failure: Option<Failure>,
        usage: Usage,
        stopped: bool,
    },
    /// Something was not as the plan expects, before anything moved: a ref, the person's checkout.
    MoveRefused {
        op: CommandId,
        why: String,
        hint: String,
    },
    Forgotten {
        name: String,
    },
    /// `saved`: what the killed iteration had changed.
    Rewound {
        task: TaskId,
        saved: Option<Oid>,
    },
    HookEnded {
        n: u64,
        outcome: HookOutcome,
        output: String,
    },
    /// The world failed an executor that works for no task, or it was told to stop.
    Broke {
        key: KeyName,
        why: String,
    },
}

/// Work that is not on trunk: why, and where it lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub why: String,
    /// None: git does not have it any more.
    pub work: Option<Landed>,
}
