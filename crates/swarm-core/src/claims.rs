//! The claim law: no task is claimed more often than its policy allows without a durable sign of progress in
//! between, whoever asks. Each way to fail has a bound of its own; this is the bound of all of them together,
//! and of every way that nobody has thought of yet.
//!
//! What counts as progress is in the ledger: a commit of the task, an iteration that ended in good order,
//! checks that passed, and a person's word about this task. A stop is none, whoever asked for it.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;

use crate::state::{State, Task};

/// Whether the event is a sign of progress for its task. Asked before it is taken in.
fn is_progress(state: &State, event: &Event) -> bool {
    match event {
        Event::Iteration { task, class, tip, .. } => {
            class.is_none() || tip.as_ref().is_some_and(|tip| is_new(state, task, tip))
        }
        // Committed by an attempt that ended without a last word.
        Event::WorkspaceReady { task, base, tip, .. } => base != tip && is_new(state, task, tip),
        Event::ChecksPassed { .. } | Event::TaskApproved { .. } => true,
        Event::TaskStarted { .. }
        | Event::TaskAdded { .. }
        | Event::TaskUpdated { .. }
        | Event::TaskStatusChanged { .. }
        | Event::TaskRestored { .. }
        | Event::GateWaived { .. }
        | Event::MessageQueued { .. } => true,
        _ => false,
    }
}

fn is_new(state: &State, task: &TaskId, tip: &Oid) -> bool {
    state.ops.tips.get(task).is_some_and(|known| known != tip)
}

impl State {
    /// Keeps the count of claims, before the event itself is taken in.
    pub(crate) fn count_claims(&mut self, event: &Event) {
        match event {
            Event::TaskClaimed { task, .. } => {
                if let Some(task) = self.tasks.get_mut(task) {
                    task.claims = task.claims.saturating_add(1);
                }
            }
            Event::BudgetExtended { task: Some(task) } => self.begins_anew(task),
            Event::PlanReset {} => self.tasks.values_mut().for_each(|task| task.claims = 0),
            other => {
                if let Some(task) = other.task().filter(|_| is_progress(self, other)) {
                    self.begins_anew(task);
                }
            }
        }
    }

    fn begins_anew(&mut self, task: &TaskId) {
        if let Some(task) = self.tasks.get_mut(task) {
            task.claims = 0;
        }
    }
}

/// Why the task may not be claimed once more, if it may not.
pub(crate) fn too_many(state: &State, task: &Task) -> Option<Next> {
    let most = state.policy.claims_max;
    // Weather is nobody's attempt: it has a bound of its own (`transient_max`) and waits between two tries.
    let starts = task.claims.saturating_sub(task.transient_retries);
    if most == 0 || starts < most {
        return None;
    }
    let last = task.last_end.as_ref().map(|how| format!("; the last attempt: {}", how.describe()));
    let why = format!("{starts} starts without any progress{}", last.unwrap_or_default());
    Some(Next::Blocked { block: BlockKind::Retries, why })
}
