//! The claim law, counted from the events alone: what the core counts itself is not asked.
//!
//! No task is claimed more often than the policy allows without a sign of progress in between, and none whose
//! agent a person stopped before a person has said that it may start.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::Event;
use swarm_protocol::failure::Consequence;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Ended;

#[derive(Debug, Clone, Default)]
pub struct Claims {
    most: u32,
    counted: BTreeMap<TaskId, u32>,
    tips: BTreeMap<TaskId, Oid>,
    /// A person stopped or killed their agents and has said nothing about them since.
    stopped: BTreeSet<TaskId>,
    /// The plan is being closed: nothing starts until that is over.
    closing: bool,
}

impl Claims {
    /// The rule that the event breaks, and how.
    pub fn judge(&self, event: &Event) -> Result<(), (&'static str, String)> {
        let Event::TaskClaimed { task, run, .. } = event else { return Ok(()) };
        if self.closing {
            return Err(("nothing starts while the plan is being closed", format!("{task} ({run})")));
        }
        if self.stopped.contains(task) {
            let rule = "a task whose agent a person stopped waits for a person's word";
            return Err((rule, format!("{task} ({run})")));
        }
        let counted = self.counted.get(task).copied().unwrap_or(0);
        if self.most > 0 && counted >= self.most {
            let rule = "no task is claimed more than its policy allows without a sign of progress";
            return Err((rule, format!("{task}: {counted} claims of {} before {run}", self.most)));
        }
        Ok(())
    }

    pub fn read(&mut self, event: &Event) {
        match event {
            Event::CoordinatorStarted { policy, .. } => self.most = policy.claims_max,
            Event::Paused { reason, .. } if reason.word() == "close" => self.closing = true,
            Event::Resumed { reason } if reason.word() == "close" => self.closing = false,
            // Weather is nobody's attempt.
            Event::AgentFailed { task, how: Ended::Failed { failure }, .. }
                if failure.class.consequence() == Consequence::Transient =>
            {
                if let Some(counted) = self.counted.get_mut(task) {
                    *counted = counted.saturating_sub(1);
                }
            }
            Event::TaskClaimed { task, .. } => *self.counted.entry(task.clone()).or_default() += 1,
            Event::Iteration { task, tip, class, .. } => {
                let moved = tip.as_ref().is_some_and(|tip| self.moves(task, tip));
                if class.is_none() || moved {
                    self.counted.remove(task);
                }
            }
            Event::WorkSubmitted { task, tip, .. } => drop(self.moves(task, tip)),
            Event::WorkspaceReady { task, tip, base, .. } => {
                let moved = self.moves(task, tip);
                self.counted.retain(|counted, _| !(moved && tip != base && counted == task));
            }
            Event::ChecksPassed { task, .. } | Event::TaskApproved { task, .. } => {
                self.counted.remove(task);
            }
            Event::Operation { kind, subject: Some(subject), .. }
                if matches!(kind.as_str(), "agent stop" | "agent kill") =>
            {
                self.stopped.extend(TaskId::new(subject));
            }
            Event::PlanReset {} => {
                self.counted.clear();
                self.stopped.clear();
            }
            Event::WorktreeRemoved { task, .. } => drop(self.tips.remove(task)),
            Event::TaskRemoved { task } => {
                self.tips.remove(task);
                self.word(task);
            }
            Event::TaskStarted { task }
            | Event::TaskStatusChanged { task, .. }
            | Event::TaskRestored { task, .. } => self.word(task),
            // A word about the task, but none that lets it start.
            Event::TaskAdded { task, .. }
            | Event::TaskUpdated { task, .. }
            | Event::GateWaived { task, .. }
            | Event::MessageQueued { task, .. }
            | Event::BudgetExtended { task: Some(task) } => drop(self.counted.remove(task)),
            _ => {}
        }
    }

    /// A person's word that the task may go on.
    fn word(&mut self, task: &TaskId) {
        self.counted.remove(task);
        self.stopped.remove(task);
    }

    /// Whether the branch is somewhere else than where it was last seen.
    fn moves(&mut self, task: &TaskId, tip: &Oid) -> bool {
        self.tips.insert(task.clone(), tip.clone()).is_some_and(|known| known != *tip)
    }
}
