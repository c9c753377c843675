//! Events of work that was handed in: checked, opened again, approved.

use swarm_protocol::event::Event;
use swarm_protocol::outcome::Gate;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{SameFailure, State};
use crate::text::tail;

impl State {
    /// True when the event was one of them.
    pub(super) fn apply_work(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::WorkSubmitted { task, run, iteration, tip, .. } => {
                self.change(task, |t| {
                    (t.last_end, t.submitted) = (None, Some(tip.clone()));
                    (t.void, t.void_by_rule, t.voids) = (None, false, 0);
                });
                self.enter(
                    task,
                    Stage::Checking { run: run.clone(), iteration: *iteration, tip: tip.clone() },
                );
            }
            Event::CheckingResumed { task, run, iteration, tip, .. } => {
                self.change(task, |t| t.last_end = None);
                let (run, iteration, tip) = (run.clone(), *iteration, tip.clone());
                self.enter(task, Stage::Checking { run, iteration, tip });
            }
            Event::WorkReopened { task, run: Some(run), iteration, .. } => {
                self.change(task, |t| t.submitted = None);
                self.next_iteration(task, run, *iteration, at);
            }
            Event::WorkReopened { task, run: None, .. } => {
                self.change(task, |t| t.submitted = None);
                self.enter(task, Stage::Pending { since: at, not_before: Timestamp::ZERO });
            }
            Event::ChecksFailed { task, run, iteration, output, digest, gate, .. } => {
                let told = match gate {
                    Some(Gate::Scan) => {
                        format!("The checks passed, and a scan of the work found this:\n{output}")
                    }
                    _ => output.clone(),
                };
                self.change(task, |t| {
                    (t.last_failure, t.submitted) = (Some(tail(&told)), None);
                    t.failed_scan = *gate == Some(Gate::Scan);
                    t.same_failure = digest.as_ref().map(|digest| {
                        let last = t.same_failure.take().filter(|same| same.digest == *digest);
                        let count = last.map_or(0, |same| same.count).saturating_add(1);
                        SameFailure { digest: digest.clone(), count }
                    });
                });
                self.next_iteration(task, run, *iteration, at);
            }
            Event::ChecksPassed { task, .. } => {
                self.change(task, |t| (t.submitted, t.same_failure, t.failed_scan) = (None, None, false));
            }
            Event::TaskApproved { task, tip, tree, base, left_out, .. } => {
                self.approved(task, tip, tree, base, at);
                self.change(task, |t| (t.left_out, t.void, t.void_by_rule) = (left_out.clone(), None, false));
            }
            _ => return false,
        }
        true
    }
}
