//! What runs have cost, and how long they worked.

use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::time::Timestamp;

use crate::state::{Spent, State};

impl State {
    pub(super) fn spend(&mut self, task: &TaskId, run: &RunId, usage: Usage) {
        if let Some(run) = self.runs.get_mut(run) {
            run.usage = run.usage.plus(usage);
        }
        self.spend_beside_runs(task, usage);
    }

    /// For the task, by an agent that was asked in an operation.
    pub(super) fn spend_beside_runs(&mut self, task: &TaskId, usage: Usage) {
        self.spent = self.spent.plus(Spent::of(usage));
        self.change(task, |t| {
            t.usage = t.usage.plus(usage);
            t.spent = t.spent.plus(Spent::of(usage));
        });
    }

    /// The run goes on with its next iteration, unless it is held at its boundary.
    pub(super) fn works_on(&mut self, run: &RunId, at: Timestamp) {
        let goes_on = self.paused.is_empty();
        if let Some(run) = self.runs.get_mut(run) {
            match goes_on {
                true => run.go_on(at),
                false => run.hold(at),
            }
        }
    }

    /// What the run has worked since it was last looked at is spent.
    pub(super) fn worked(&mut self, run: &RunId, at: Timestamp) {
        let Some(run) = self.runs.get_mut(run) else { return };
        let Some(since) = run.busy_since.take() else { return };
        let (task, worked_ms) = (run.task.clone(), at.0.saturating_sub(since.0));
        let spent = Spent { worked_ms, ..Spent::default() };
        self.spent = self.spent.plus(spent);
        self.change(&task, |t| t.spent = t.spent.plus(spent));
    }
}
