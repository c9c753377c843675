//! A task and its runs, as far as the swarm knows them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::RunKind;
use swarm_protocol::conflict::Resolved;
use swarm_protocol::council::{Seat, Voice};
use swarm_protocol::event::Proof;
use swarm_protocol::failure::{Failure, Usage};
use swarm_protocol::ids::{AgentId, Oid, TaskId};
use swarm_protocol::operation::{Left, SavedStage};
use swarm_protocol::outcome::{Ended, Gate};
use swarm_protocol::plan::{BlockKind, TaskSpec};
use swarm_protocol::time::Timestamp;

use super::{Audit, Message, NotRevived, Nudge, SameFailure, Spent};
use crate::stage::Stage;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub spec: TaskSpec,
    pub phase: u32,
    /// Place within the phase; has gaps, so that a move touches one task.
    pub rank: i64,
    pub stage: Stage,
    /// Attempts so far, of any ending.
    pub attempts: u32,
    /// How often an attempt was gone on with: by a daemon that was started again, after a pause, or when a service was
    /// back. No attempts of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Its last attempt was broken off and is not over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// Attempts that ended by crash, timeout or loss.
    pub retries: u32,
    /// Failures in a row that are nobody's fault: services, networks, lost reviews.
    pub transient_retries: u32,
    /// Answers in a row that were refused or cut.
    pub once_more: u32,
    pub review_rounds: u32,
    /// What the last round saw, and wanted changed.
    #[serde(default)]
    pub sent_back: Option<Oid>,
    /// The same in words, until the work is approved: whatever has failed since does not take its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_wanted: Option<String>,
    /// What the members of the council said about its work; a verdict holds for the tree that it is about.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub council: BTreeMap<String, Seat>,
    /// How often each of them was asked in a row and had no verdict.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub council_lost: BTreeMap<String, u32>,
    pub merge_rounds: u32,
    /// A person let it start, or it was granted before: it goes on through its retries.
    pub started: bool,
    /// A person stopped its agent, and why it waits: in every mode it starts again by a person's word only.
    #[serde(default)]
    pub withheld: Option<String>,
    /// Claims since the last sign of progress.
    #[serde(default)]
    pub claims: u32,
    /// Work that was handed in and whose checks have no verdict yet: checked again, not done again.
    #[serde(default)]
    pub submitted: Option<Oid>,
    /// How its checks failed last, and how often so in a row.
    #[serde(default)]
    pub same_failure: Option<SameFailure>,
    /// A scan found something in its work last, and nothing has passed since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_scan: bool,
    /// What its attempts have cost so far.
    pub usage: Usage,
    /// By which the agent program can go on where it was; none: a fresh session.
    pub session: Option<String>,
    /// Why the agent program brought no result last.
    pub failure: Option<Failure>,
    /// Why its merge was put off, until it succeeds.
    pub put_off: Option<String>,
    /// The reservations that its merge waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<u64>,
    /// How often its agents tried what is not theirs to do, and the last time.
    pub oversteps: u32,
    /// The first so many of them have been seen by a person.
    #[serde(default)]
    pub oversteps_seen: u32,
    pub overstep: Option<Audit>,
    /// Nobody knows whose doing the last one was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_anybody: bool,
    /// Failures of executors in a row (worktree, git).
    #[serde(rename = "hand_failures")]
    pub effect_failures: u32,
    pub waived: BTreeSet<Gate>,
    /// How often its agents said that it is complete without having changed anything.
    #[serde(default)]
    pub empties: u32,
    /// The tip of its branch that was handed in last: what comes after it has not been merged.
    #[serde(default)]
    pub handed_in: Option<Oid>,
    /// Where its branch was when an earlier commit of it was approved, by whoever wanted the rest left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Oid>,
    /// The commit that was approved before its branch was changed, until there is another verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<Oid>,
    /// It was no change of the branch: rules decided what conflicted with trunk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub void_by_rule: bool,
    /// How often that happened since it was last worked on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub voids: u32,
    /// What conflicted when it was last built for trunk, and what resolved it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Resolved>,
    /// How often an agent was asked to resolve what conflicts with trunk.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u32,
    /// In which files, until what it made of them is submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts_in: Vec<String>,
    /// The resolved files are on its own branch, with trunk merged into it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    /// Protected files that its work was seen to change: a person reviews it from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// Commits of it that are on trunk already, while more of its work goes there.
    #[serde(default)]
    pub landed_before: Vec<Oid>,
    /// Commits on trunk that had work of it already when the rest was built.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Oid>,
    /// Where the branch started, once its worktree was made.
    pub base: Option<Oid>,
    /// A worktree may exist: from the claim on, since the executor that makes it may die before its
    /// report, until an executor has proven it gone.
    pub worktree: bool,
    /// What was given up with the worktree and is on no trunk: it comes back when the task does.
    #[serde(default)]
    pub left: Option<Left>,
    /// Why that has not come back yet, although it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_revived: Option<NotRevived>,
    /// It was cancelled and is open again, and its worktree may be on the way out: that is waited for, and comes back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
    /// The record by which it was last cancelled.
    #[serde(default)]
    pub cancelled: u64,
    /// Uncommitted work of the last attempt, kept under a ref.
    pub wip: Option<Oid>,
    /// A merged commit that was found green; not verified again.
    pub verified: Option<Oid>,
    /// What the next attempt should know: output of the last red check, crash, note.
    pub last_failure: Option<String>,
    pub last_agent: Option<AgentId>,
    /// How its last attempt ended, until work is submitted: the next one is told.
    pub last_end: Option<Ended>,
    /// Why the worktree of the closed task stays.
    pub kept: Option<String>,
    /// What it was when the plan was closed over it, or when a person put off work that was handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<SavedStage>,
    /// It was taken to be merged, and had no worktree then; nor has it now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bare: bool,
    /// Crashes of its agents since the task was last handed to one, however slowly they came.
    pub crashes: u32,
    /// How often its context window was full.
    pub overflows: u32,
    /// What its next iteration is told about the last one.
    pub nudge: Option<Nudge>,
    /// The profile it was handed to; before what the plan says.
    pub assigned: Option<String>,
    /// Profiles that were not allowed to do what it needs.
    pub denied_under: BTreeSet<String>,
    /// The profile of its last attempt: a session belongs to the program that began it.
    pub worked_under: Option<String>,
    /// Its allowance was used up: first in the queue when it is back.
    pub waits_for_quota: Option<String>,
    /// Goes before all others, once.
    pub first: bool,
    pub spent: Spent,
    /// What its present budget does not count.
    pub spent_before: Spent,
    /// Words of people for whoever works on it, oldest first (bounded).
    pub messages: VecDeque<Message>,
    /// The parts it was split into.
    pub parts: Vec<TaskId>,
    /// The task it is a part of.
    pub parent: Option<TaskId>,
    pub audit: VecDeque<Audit>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub kind: RunKind,
    pub task: TaskId,
    pub agent: Option<AgentId>,
    pub attempt: u32,
    pub nonce: String,
    pub claimed_at: Timestamp,
    pub spawned: bool,
    /// The profile it was claimed under; none: the one of the task or of the swarm.
    pub profile: Option<String>,
    /// The member of the council that it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    pub usage: Usage,
    /// Nothing is expected of it any more but its stop.
    pub ended: bool,
    /// Its number among all runs of the ledger.
    pub nth: u64,
    /// Since when it has been at work; none while it is held at its boundary.
    pub busy_since: Option<Timestamp>,
    /// Since when a pause holds it at its boundary: that time is not taken from its attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<Timestamp>,
    /// How long pauses that are over have held it.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub held_ms: u64,
    /// It was told once that it goes round in circles or is silent.
    pub nudged: bool,
    /// Lines of the history that it gave rise to: each is taken in once (bounded).
    pub noted: BTreeSet<String>,
    /// It has ended, and what is left of it could not be stopped yet. Tried again until it works.
    pub stuck: Option<Stuck>,
    /// The group that a probe asks for.
    pub group: Option<String>,
    /// Whether it works in the tree that tasks share: whatever is wanted by now, it stays where it began. None: of a
    /// time when that was not written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    pub since: Timestamp,
    pub why: String,
}

impl Task {
    /// How often an agent program was sent to work on it, whether as an attempt or within one.
    pub fn starts(&self) -> u32 {
        self.attempts.saturating_add(self.restarts)
    }

    /// Why what was given up with its worktree does not come back, once a person has to see to it.
    pub fn not_back(&self) -> Option<&NotRevived> {
        self.not_revived.as_ref().filter(|one| one.given_up && self.left.is_some() && !self.stage.is_closed())
    }

    /// The commit and the tree that a verdict is wanted about: in review, or where the review came to no end.
    pub fn submitted(&self) -> Option<(&Oid, &Oid)> {
        match (&self.stage, &self.was) {
            (Stage::Review { tip, tree, .. }, _) => Some((tip, tree)),
            (Stage::Blocked { block: BlockKind::Review, .. }, Some(SavedStage::Review { tip, tree, .. })) => {
                Some((tip, tree))
            }
            _ => None,
        }
    }

    /// What the members of the council say about the work that it is asked about now; nothing while it is not.
    pub fn seats(&self) -> impl Iterator<Item = (&String, &Seat)> {
        let tree = self.submitted().map(|(_, tree)| tree);
        let round = self.review_rounds + 1;
        self.council.iter().filter(move |(_, seat)| Some(&seat.tree) == tree && seat.round == round)
    }

    /// What this member says about it.
    pub fn voice(&self, member: &str) -> Option<Voice> {
        self.seats().find(|(name, _)| *name == member).map(|(_, seat)| seat.voice)
    }
}

impl Run {
    /// It waits at its boundary until nothing holds the swarm any more.
    pub(crate) fn hold(&mut self, at: Timestamp) {
        self.busy_since = None;
        self.held_since.get_or_insert(at);
    }

    /// It has the word to go on.
    pub(crate) fn go_on(&mut self, at: Timestamp) {
        self.busy_since = Some(at);
        if let Some(since) = self.held_since.take() {
            self.held_ms = self.held_ms.saturating_add(at.0.saturating_sub(since.0));
        }
    }

    /// Under which the conversation of whoever reviews in it goes on.
    pub(crate) fn conversation(&self) -> Option<String> {
        let member = self.member.as_ref().map(|member| format!("council/{member}"));
        member.or_else(|| self.profile.clone())
    }

    /// A learning as it is remembered among what the run gave rise to.
    pub(crate) fn learning(signal: &str, text: &str) -> String {
        format!("{signal}: {text}")
    }
}

/// The proof that can be looked up on trunk; none where there is nothing to look for.
pub(crate) fn provable(task: &Task) -> Option<&Proof> {
    let proof = task.stage.proof().filter(|proof| proof.accepted.is_none())?;
    (!proof.commits.is_empty() || !proof.found.is_empty()).then_some(proof)
}
