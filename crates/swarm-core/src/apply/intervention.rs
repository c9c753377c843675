//! Events of people who kill agents and send them elsewhere.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{AgentId, TaskId};

use super::legacy;
use crate::state::State;
use crate::state::operations::{First, Redirect, Rewind};

impl State {
    pub(super) fn apply_intervention(&mut self, event: &Event) -> bool {
        match event {
            Event::AgentKilled { task, run } => {
                let to = self.ops.tips.get(task).cloned();
                self.ops.rewinds.insert(task.clone(), Rewind { run: run.clone(), to, failures: 0 });
            }
            Event::WorkHeld { task, agent } => self.goes_first(task, agent.clone()),
            Event::WorktreeRewound { task, .. } => {
                self.ops.rewinds.remove(task);
            }
            Event::RewindFailed { task, given_up, .. } => {
                let failed = self.ops.rewinds.get_mut(task).map(|rewind| {
                    rewind.failures += 1;
                    rewind.failures
                });
                if failed.is_some_and(|n| given_up.unwrap_or_else(|| legacy::gives_up(n))) {
                    self.ops.rewinds.remove(task);
                }
            }
            Event::AgentRedirected { task, agent, to, same_worktree } => {
                let (from, agent) = (task.clone(), agent.clone());
                let redirect = Redirect { from, agent, same_worktree: *same_worktree };
                self.ops.redirects.insert(to.clone(), redirect);
            }
            _ => return false,
        }
        true
    }

    /// The task goes before the queue when work goes on, to the same agent if it can.
    pub(super) fn goes_first(&mut self, id: &TaskId, agent: Option<AgentId>) {
        self.ops.first.retain(|first| first.task != *id);
        self.ops.first.push_back(First { task: id.clone(), agent });
    }
}
