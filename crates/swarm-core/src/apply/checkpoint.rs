//! Events of checkpoints and hooks.

use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use super::keep;
use crate::limits::HOOKS_ENDED_KEPT;
use crate::state::State;
use crate::state::operations::{Due, HookRun, PERIODIC, Step};

impl State {
    pub(super) fn apply_checkpoint(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::CheckpointDue { name, trigger, full, seq } => {
                if trigger == PERIODIC {
                    self.ops.done_since = 0;
                }
                let seq = seq.unwrap_or(self.seq.saturating_sub(1));
                self.due_checkpoint(name.clone(), trigger, *full, seq, at);
            }
            Event::HookDue { hook, n, subject, run, variables, blocking } => {
                self.ops.hooks_ever = *n;
                let due = HookRun {
                    n: *n,
                    hook: hook.clone(),
                    subject: subject.clone(),
                    run: run.clone(),
                    variables: variables.clone(),
                    blocking: *blocking,
                    started: None,
                    outcome: None,
                    output: String::new(),
                };
                self.ops.hooks.insert(*n, due);
            }
            Event::CheckpointMade { checkpoint, op } => {
                self.ops.due.retain(|due| due.name != checkpoint.name);
                if checkpoint.trigger == "session start" {
                    self.ops.session_start = Some(checkpoint.name.clone());
                }
                self.ops.checkpoints.insert(checkpoint.name.clone(), checkpoint.clone());
                if let Some(running) = self.ops.running.as_mut().filter(|r| op.as_ref() == Some(&r.id))
                    && let Step::Saving { plan } = &running.step
                {
                    running.step = Step::Moving { plan: plan.clone(), dirty: checkpoint.dirty.clone() };
                }
            }
            Event::CheckpointFailed { name, .. } => {
                self.ops.due.retain(|due| due.name != *name);
                // What it was to be the way back of has none.
                let refers = self.ops.log.iter_mut().filter(|r| r.checkpoint.as_ref() == Some(name));
                refers.for_each(|record| record.checkpoint = None);
            }
            Event::CheckpointDeleted { name, .. } => {
                if let Some(checkpoint) = self.ops.checkpoints.get_mut(name) {
                    checkpoint.deleted = Some(at);
                }
            }
            Event::CheckpointPurged { name } => {
                self.ops.checkpoints.remove(name);
            }
            Event::HookStarted { n, .. } => {
                let epoch = self.epoch;
                if let Some(hook) = self.ops.hooks.get_mut(n) {
                    hook.started = Some(epoch);
                }
            }
            Event::HookEnded { n, outcome, output, .. } => {
                if let Some(mut hook) = self.ops.hooks.remove(n) {
                    (hook.outcome, hook.output) = (Some(outcome.clone()), output.clone());
                    keep(&mut self.ops.hooks_ended, HOOKS_ENDED_KEPT, hook);
                }
            }
            _ => return false,
        }
        true
    }

    /// A checkpoint is to be made; one of the same name stands already.
    pub(super) fn due_checkpoint(
        &mut self,
        name: String,
        trigger: &str,
        full: bool,
        seq: u64,
        at: Timestamp,
    ) {
        if self.ops.due.len() >= crate::limits::DUE_MAX {
            return;
        }
        self.ops.due.push_back(Due { name, seq, at, full, trigger: trigger.into() });
    }
}
