//! Events of the checks of a merge, and of trunk alone.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::time::Timestamp;

use super::keep;
use crate::limits::GREEN_KEPT;
use crate::stage::{MergeStep, Stage};
use crate::state::{RedTrunk, State};
use crate::text::tail;

impl State {
    pub(super) fn apply_verification(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::VerificationStarted { task, run, nonce } => self.start_verification(task, run, nonce, at),
            Event::VerificationPassed { task, run, commit } => {
                self.end_verification(task, run.as_ref());
                if run.is_some() {
                    self.found_green(commit);
                }
                self.change(task, |t| t.verified = Some(commit.clone()));
            }
            Event::VerificationFailed { task, run, output, next, .. } => {
                self.end_verification(task, Some(run));
                self.change(task, |t| {
                    t.merge_rounds += 1;
                    t.last_failure = Some(tail(output));
                });
                self.release(task);
                self.follow(task, next, at);
            }
            Event::VerificationRed { task, run, base, output } => {
                self.end(run);
                self.set_step(task, MergeStep::Suspect { base: base.clone(), output: tail(output) });
            }
            Event::TrunkTrialStarted { task, run, nonce, .. } => self.start_trial(task, run, nonce, at),
            Event::TrunkJudged { task, run, commit, green, .. } => {
                self.end(run);
                if *green {
                    self.found_green(commit);
                } else {
                    self.red_trunk = Some(RedTrunk { commit: commit.clone(), task: task.clone() });
                }
            }
            _ => return false,
        }
        true
    }

    fn start_verification(&mut self, task: &TaskId, run: &RunId, nonce: &str, at: Timestamp) {
        self.claim_run(RunKind::Verify, task, run, nonce, at);
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage
                && let MergeStep::Publishing { base, result, commits } = step
            {
                *step = MergeStep::Verifying {
                    base: base.clone(),
                    result: result.clone(),
                    commits: std::mem::take(commits),
                    run: run.clone(),
                };
            }
        });
    }

    fn start_trial(&mut self, task: &TaskId, run: &RunId, nonce: &str, at: Timestamp) {
        self.claim_run(RunKind::Verify, task, run, nonce, at);
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage
                && let MergeStep::Suspect { base, output } = step
            {
                *step =
                    MergeStep::Trial { base: base.clone(), output: std::mem::take(output), run: run.clone() };
            }
        });
    }

    /// The verification is over, whatever it said; its processes are still to be proven gone.
    fn end_verification(&mut self, task: &TaskId, run: Option<&RunId>) {
        if let Some(run) = run.and_then(|r| self.runs.get_mut(r)) {
            run.ended = true;
        }
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage
                && let MergeStep::Verifying { base, result, commits, .. } = step
            {
                *step = MergeStep::Publishing {
                    base: base.clone(),
                    result: result.clone(),
                    commits: std::mem::take(commits),
                };
            }
        });
    }

    fn found_green(&mut self, commit: &Oid) {
        if !self.green.contains(commit) {
            keep(&mut self.green, GREEN_KEPT, commit.clone());
        }
    }
}
