//! What each piece of work belongs to when it is told as spans: the run of the swarm, the attempt, its checks.
//!
//! Two ask for it, and have to be told the same: whoever makes the spans from the records (`trace.rs`), and whoever starts a
//! program that is to hang its own spans below ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, RunId, TaskId};
use swarm_protocol::plan::Status;

/// Built record by record. What it holds is what is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The record that began the run of the swarm that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<u64>,
    /// Its last coordinator has left: it is over as soon as nothing of it is under way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<TaskId, Work>,
    /// With what they belong to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<CommandId, Option<u64>>,
}

/// A task in the hands of the swarm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The run of the swarm that it belongs to, however many there were since.
    pub within: Option<u64>,
    /// The record it began with.
    pub began: u64,
    /// None: work that needs no agent.
    pub run: Option<RunId>,
    /// The record by which its checks began last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<u64>,
}

impl Flow {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `seq` is the record's.
    pub fn note(&mut self, seq: u64, event: &Event) {
        match event {
            Event::CoordinatorStarted { .. } => {
                self.began.get_or_insert(seq);
                self.left = false;
            }
            Event::CoordinatorStopped { .. } => self.left = true,
            Event::PlanReset { .. } => self.attempts.clear(),
            // What lost records ended is not known.
            Event::PlanClosed { .. } | Event::LedgerLoss { .. } => {
                self.attempts.clear();
                self.operations.clear();
                self.left = true;
            }
            Event::OperationAsked { id, .. } => {
                self.operations.insert(id.clone(), self.began);
            }
            Event::OperationFinished { id, .. } | Event::OperationFailed { id, .. } => {
                self.operations.remove(id);
            }
            _ => self.note_task(seq, event),
        }
        if self.left && self.began.is_some() && !self.goes_on() {
            self.began = None;
        }
    }

    fn note_task(&mut self, seq: u64, event: &Event) {
        let Some(task) = event.task() else { return };
        let work = |run| Work { within: self.began, began: seq, run, check: None };
        match event {
            Event::TaskClaimed { run, .. } => {
                let work = work(Some(run.clone()));
                self.attempts.insert(task.clone(), work);
            }
            // Work that needs no agent begins where the swarm takes it up.
            Event::ReviewStarted { .. } | Event::TrunkGranted { .. } => {
                let work = work(None);
                self.attempts.entry(task.clone()).or_insert(work);
            }
            Event::WorkSubmitted { .. } | Event::CheckingResumed { .. } => {
                if let Some(work) = self.attempts.get_mut(task) {
                    work.check = Some(seq);
                }
            }
            _ => {}
        }
        if takes_out_of_hand(event) {
            self.attempts.remove(task);
        }
    }

    fn goes_on(&self) -> bool {
        let of = |within: Option<u64>| within == self.began;
        self.attempts.values().any(|work| of(work.within)) || self.operations.values().any(|with| of(*with))
    }
}

/// The record that ends an attempt.
pub fn takes_out_of_hand(event: &Event) -> bool {
    match event {
        Event::AgentFailed { .. } | Event::AgentStopped { .. } | Event::TaskRemoved { .. } => true,
        _ => event
            .status()
            .is_some_and(|status| !matches!(status, Status::Active | Status::Review | Status::Merging)),
    }
}
