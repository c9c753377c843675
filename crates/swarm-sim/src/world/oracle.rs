//! What must hold, each rule by name. The oracle reads events and the truth of the world; it does
//! not trust what the core believes about itself.

mod expected;
mod gates;
mod reserved;
mod rest;

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::state::State;
use swarm_protocol::command::Command;
use swarm_protocol::event::{Event, Proof};
use swarm_protocol::failure::Consequence;
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::outcome::{Ended, Gate, Mode, Next};
use swarm_protocol::policy::Policy;
use swarm_protocol::review::Verdict;
use swarm_protocol::time::Timestamp;

use super::coordinator::Coordinator;
use super::log::Log;
use super::on_trunk::{built_as_reviewed, built_on_trunk, published, trunk_is_free};
use super::rules::Recovery;
use super::truth::Truth;
use crate::claims::Claims;
use reserved::Reserved;

pub use expected::{Expected, run_of};
pub use rest::{at_rest, stands_still};

/// A rule that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub rule: &'static str,
    pub text: String,
}

pub fn broken(rule: &'static str, text: impl Into<String>) -> Broken {
    Broken { rule, text: text.into() }
}

/// Virtual time within which an executor that was told to stop has reported.
const CANCEL_MS: u64 = 15 * 60 * 1000;

/// What the oracle has read in the log. Thrown away with what was not durable.
#[derive(Debug, Default)]
pub struct Oracle {
    /// Work runs claimed and not yet proven gone.
    at_work: BTreeMap<RunId, TaskId>,
    approved: BTreeSet<(TaskId, Oid)>,
    started: BTreeSet<TaskId>,
    /// The newest tip that was submitted, and whose checks passed.
    checked: BTreeMap<TaskId, Oid>,
    /// What the branch of a task was found at after it had been approved.
    changed: BTreeSet<(TaskId, Oid)>,
    waived: BTreeSet<(TaskId, Gate)>,
    operations: BTreeSet<CommandId>,
    policies: Vec<Policy>,
    /// Commits that a person called good, by task.
    said_good: BTreeSet<(TaskId, Oid)>,
    /// Trunk, as it was recorded when the plan first ran.
    trunk: Option<String>,
    /// What recovery has come to.
    recovery: Recovery,
    claims: Claims,
    reserved: Reserved,
    /// Commands whose acceptance a person has read; kept over crashes.
    told: BTreeSet<CommandId>,
}

impl Oracle {
    /// What a new coordinator's log says; people remember what they were told.
    pub fn from_log(log: &Log, told: BTreeSet<CommandId>) -> Self {
        let mut oracle = Self { told, ..Self::default() };
        for event in log.events() {
            oracle.read(event);
        }
        oracle
    }

    /// What people have said does not stand in the log.
    pub fn after(mut self, before: &Self) -> Self {
        self.said_good.extend(before.said_good.iter().cloned());
        self
    }

    pub fn told(&mut self, id: &CommandId) {
        self.told.insert(id.clone());
    }

    pub fn all_told(&mut self) -> &mut BTreeSet<CommandId> {
        &mut self.told
    }

    fn read(&mut self, event: &Event) {
        self.recovery.read(event);
        self.claims.read(event);
        self.reserved.read(event);
        match event {
            Event::TaskClaimed { task, run, .. } => {
                self.at_work.insert(run.clone(), task.clone());
                self.started.insert(task.clone());
            }
            Event::TaskStarted { task } => {
                self.started.insert(task.clone());
            }
            Event::PlanReset {} => self.started.clear(),
            Event::TaskRemoved { task } => {
                self.started.remove(task);
            }
            Event::ChecksPassed { task, tip, .. } => {
                self.checked.insert(task.clone(), tip.clone());
            }
            Event::MergeResolved { task, tip, .. } => {
                self.checked.insert(task.clone(), tip.clone());
            }
            Event::ApprovalVoided { task, tip, .. } => {
                self.checked.insert(task.clone(), tip.clone());
                self.changed.insert((task.clone(), tip.clone()));
            }
            Event::AttemptStopped { run, .. } => {
                self.at_work.remove(run);
            }
            Event::TaskApproved { task, tip, base, .. } => {
                self.approved.insert((task.clone(), tip.clone()));
                // A person merges it by hand.
                if base.is_some() {
                    self.said_good.insert((task.clone(), tip.clone()));
                }
            }
            Event::GateWaived { task, gate, .. } => {
                self.waived.insert((task.clone(), *gate));
            }
            Event::Operation { id, .. } => {
                self.operations.insert(id.clone());
            }
            Event::CoordinatorStarted { policy, trunk, .. } => {
                self.policies.push(policy.clone());
                self.trunk.get_or_insert_with(|| trunk.clone());
            }
            _ => {}
        }
    }

    /// A decision was made. `c` has its state after it, and its executors as they are now.
    pub fn decided(
        &mut self,
        expected: Expected,
        events: &[Event],
        accepted: bool,
        c: &Coordinator,
        now: Timestamp,
        truth: &Truth,
    ) -> Result<(), Broken> {
        if let Some((rule, by_the_clock)) = expected.nothing
            && by_the_clock != events
        {
            return Err(broken(rule, format!("{events:?}")));
        }
        if !accepted && c.state.seq != expected.seq {
            return Err(broken(
                "a refusal changes nothing",
                format!("seq {} → {}", expected.seq, c.state.seq),
            ));
        }
        if c.state.seq != expected.seq + events.len() as u64 {
            return Err(broken("every change is an event", format!("{events:?}")));
        }
        for event in events {
            self.judge(event, c, truth)?;
            self.read(event);
        }
        if events.iter().any(|event| matches!(event, Event::TaskClaimed { .. })) {
            self.slots(&c.state)?;
        }
        if !events.is_empty() {
            c.state.check_index().map_err(|text| broken("the indexes equal a full scan", text))?;
            swarm_core::is_settled(&c.state, now)
                .map_err(|more| broken("a decision is settled", format!("{more:?}")))?;
        }
        Ok(())
    }

    fn judge(&self, event: &Event, c: &Coordinator, truth: &Truth) -> Result<(), Broken> {
        let slots = c.state.plan.as_ref().map_or(1, |plan| plan.profile.slots()) as usize;
        self.recovery.judge(event, truth, &self.at_work, slots)?;
        self.claims.judge(event).map_err(|(rule, text)| broken(rule, text))?;
        let shares = |id: &TaskId| {
            let word = c.state.task(id).map(|t| t.spec.isolation.as_deref());
            word.is_some_and(|word| word.map_or(c.state.policy.shared_tree, |word| word == "reservation"))
        };
        let reserves = |id: &TaskId| {
            let spec = c.state.task(id).map(|t| &t.spec);
            shares(id) || spec.is_some_and(|spec| !spec.reserve.is_empty() || !spec.share.is_empty())
        };
        self.reserved.judge(event, reserves, shares)?;
        self.parts_come_first(event, &c.state)?;
        match event {
            Event::Operation { id, .. } if self.operations.contains(id) => {
                Err(broken("the same command id is carried out once", id.to_string()))
            }
            Event::TaskClaimed { task, .. }
                if c.state.mode() == Mode::SemiAuto && !self.started.contains(task) =>
            {
                Err(broken("in semi-auto a task starts when a person says so", task.to_string()))
            }
            Event::ReviewStarted { task, run, .. } => match self.at_work.iter().find(|(_, t)| *t == task) {
                Some((other, _)) => Err(broken(
                    "a review starts only after attempt_stopped",
                    format!("{task}: {other}, then {run}"),
                )),
                None => Ok(()),
            },
            Event::AgentFailed { task, how: Ended::Failed { failure }, next, .. } => {
                let free = matches!(
                    failure.class.consequence(),
                    Consequence::Transient | Consequence::Quota | Consequence::OnceMore
                );
                match next {
                    Next::Pending { counts: true, .. } if free => Err(broken(
                        "a failure that is nobody's fault is not held against the task",
                        format!("{task}: {failure:?}"),
                    )),
                    _ => Ok(()),
                }
            }
            Event::VerificationFailed { task, .. } if truth.trunk_is_red() => self.may_blame(task, c, truth),
            Event::TaskClaimed { task, run, .. } => match self.at_work.iter().find(|(_, t)| *t == task) {
                Some((other, _)) => Err(broken(
                    "a task is granted again only after attempt_stopped",
                    format!("{task}: {other}, then {run}"),
                )),
                None => Ok(()),
            },
            Event::TrunkGranted { task, .. } => trunk_is_free(task, c),
            Event::MergeBuilt { task, base, result, commits, .. } => {
                built_as_reviewed(task, result, c, truth)?;
                // Where the parts of a task are looked at together, nothing comes to trunk.
                if !commits.is_empty() {
                    self.protected_was_seen(task, result, truth)?;
                    self.reserved.may_be_merged(task, &truth.changed_in(result))?;
                }
                built_on_trunk(task, base, c, truth)
            }
            // A person answers for the person's own work.
            Event::TaskApproved { base: Some(_), .. } => Ok(()),
            Event::TaskApproved { task, tip, policy, .. } => {
                self.reviewed_by_whom_it_should(task, tip, &c.state)?;
                self.council_let_it_pass(task, tip, policy, truth)?;
                self.may_approve(task, tip, truth)
            }
            Event::MergeCompleted { proof, .. } | Event::TaskStatusChanged { proof: Some(proof), .. } => {
                published(proof, truth)
            }
            _ => Ok(()),
        }
    }

    fn slots(&self, state: &State) -> Result<(), Broken> {
        let slots = state.plan.as_ref().map_or(1, |plan| plan.profile.slots());
        if self.at_work.len() > slots as usize {
            return Err(broken(
                "slots are never exceeded",
                format!("{slots} slots, at work: {:?}", self.at_work),
            ));
        }
        Ok(())
    }

    /// A person asks for something.
    pub fn asked(&mut self, command: &Command) {
        if let Command::Review { task, verdict: Verdict::Approve { tip, .. } } = command {
            self.said_good.insert((task.clone(), tip.clone()));
        }
    }

    /// Done means: on the one trunk that was recorded when the plan first ran.
    pub(super) fn proven(&self, proof: &Proof, truth: &Truth) -> Result<(), Broken> {
        let trunk = self.trunk.as_deref().unwrap_or_default();
        if proof.accepted.is_some() {
            return Ok(());
        }
        let off = proof.commits.iter().find(|oid| !truth.branch_has(trunk, oid));
        let missing = off.or_else(|| proof.found.iter().find(|oid| !truth.has_source(oid)));
        match missing {
            Some(oid) => Err(broken("done means on trunk", format!("{oid} is not on {trunk}"))),
            None => Ok(()),
        }
    }

    /// Executors that were told to stop long ago and have said nothing.
    pub fn silent_executors(&self, c: &Coordinator, now: Timestamp) -> Result<(), Broken> {
        let silent = c
            .executors
            .values()
            .find(|h| !h.reported && h.cancelled_at.is_some_and(|at| now.0 > at.0 + CANCEL_MS));
        match silent {
            Some(executor) => {
                Err(broken("a cancelled effect ends in a report", format!("{:?}", executor.effect)))
            }
            None => Ok(()),
        }
    }
}
