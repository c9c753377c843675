//! Events of an attempt: claimed, prepared, working, checked, ended, proven gone.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{AgentId, RunId};
use swarm_protocol::time::Timestamp;

use super::tail;
use crate::stage::Stage;
use crate::state::{Run, State};

impl State {
    /// True when the event was one of an attempt.
    pub(super) fn apply_run(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::TaskClaimed { task, run, agent, attempt, nonce, .. } => {
                let claimed = Run {
                    kind: RunKind::Work,
                    task: task.clone(),
                    agent: Some(agent.clone()),
                    attempt: *attempt,
                    nonce: nonce.clone(),
                    claimed_at: at,
                    spawned: false,
                    ended: false,
                };
                self.runs.insert(run.clone(), claimed);
                self.runs_ever += 1;
                self.agents.entry(agent.clone()).or_default().run = Some(run.clone());
                self.change(task, |t| {
                    t.attempts = *attempt;
                    t.worktree = true;
                    t.kept = None;
                    t.last_agent = Some(agent.clone());
                });
                self.enter(task, Stage::Preparing { run: run.clone() });
            }
            Event::WorkspaceReady { task, run, base, .. } => {
                self.change(task, |t| {
                    t.base = Some(base.clone());
                    t.hand_failures = 0;
                });
                self.enter(task, Stage::Active { run: run.clone(), iteration: 1 });
            }
            Event::AgentSpawned { run, .. } => {
                if let Some(run) = self.runs.get_mut(run) {
                    run.spawned = true;
                }
            }
            Event::Iteration { task, run, iteration, .. } => {
                self.enter(task, Stage::Active { run: run.clone(), iteration: iteration.saturating_add(1) });
            }
            Event::WorkSubmitted { task, run, iteration, tip, .. } => {
                self.enter(
                    task,
                    Stage::Checking { run: run.clone(), iteration: *iteration, tip: tip.clone() },
                );
            }
            Event::ChecksFailed { task, run, iteration, output, .. } => {
                self.change(task, |t| t.last_failure = Some(tail(output)));
                self.enter(task, Stage::Active { run: run.clone(), iteration: iteration.saturating_add(1) });
            }
            Event::ChecksPassed { .. } => {}
            Event::GateWaived { task, gate, .. } => self.change(task, |t| {
                t.waived.insert(*gate);
            }),
            Event::TaskApproved { task, tip, tree, .. } => {
                self.change(task, |t| t.last_failure = None);
                let stage = Stage::Approved {
                    tip: tip.clone(),
                    tree: tree.clone(),
                    since: at,
                    not_before: Timestamp::ZERO,
                    waits: None,
                };
                self.enter(task, stage);
            }
            Event::AgentCompleted { run, .. } => self.end(run),
            Event::AgentFailed { task, run, how, next, .. } => {
                self.end(run);
                self.change(task, |t| t.last_failure = Some(tail(&how.words())));
                self.follow(task, next, at);
            }
            Event::AgentStopped { task, run, next, .. } => {
                self.end(run);
                self.follow(task, next, at);
            }
            Event::AttemptStopped { task, run, wip } => {
                if let Some(gone) = self.runs.remove(run) {
                    self.set_idle(gone.agent.as_ref(), run);
                }
                if let Some(wip) = wip {
                    self.change(task, |t| t.wip = Some(wip.clone()));
                }
            }
            _ => return false,
        }
        true
    }

    fn end(&mut self, run: &RunId) {
        if let Some(run) = self.runs.get_mut(run) {
            run.ended = true;
        }
    }

    fn set_idle(&mut self, agent: Option<&AgentId>, run: &RunId) {
        if let Some(agent) = agent.and_then(|a| self.agents.get_mut(a))
            && agent.run.as_ref() == Some(run)
        {
            agent.run = None;
        }
    }
}
