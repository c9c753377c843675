//! Events of a review: asked for, started, its verdict, its loss.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::State;
use crate::text::tail;

impl State {
    /// True when the event was one of a review.
    pub(super) fn apply_review(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::ReviewAsked { task, tip, tree, .. } => {
                let (tip, tree) = (tip.clone(), tree.clone());
                self.enter(
                    task,
                    Stage::Review { tip, tree, since: at, not_before: Timestamp::ZERO, run: None },
                );
            }
            Event::ReviewStarted { task, run, nonce, .. } => {
                self.claim_run(RunKind::Review, task, run, nonce, at);
                self.change(task, |t| {
                    if let Stage::Review { run: current, .. } = &mut t.stage {
                        *current = Some(run.clone());
                    }
                });
            }
            Event::ReviewFailed { task, run, output, next, .. } => {
                self.end(run);
                self.change(task, |t| {
                    t.review_rounds += 1;
                    t.transient_retries = 0;
                    t.last_failure = Some(tail(output));
                });
                self.follow(task, next, at);
            }
            Event::ChangesRequested { task, notes, next, .. } => {
                let lines: Vec<String> = notes.iter().map(|note| format!("- {note}")).collect();
                let said = format!("A person reviewed the work and wants changes:\n{}", lines.join("\n"));
                self.change(task, |t| {
                    t.review_rounds += 1;
                    t.transient_retries = 0;
                    t.last_failure = Some(tail(&said));
                });
                self.follow(task, next, at);
            }
            Event::ReviewLost { task, run, next, .. } => {
                self.end(run);
                self.change(task, |t| t.transient_retries = t.transient_retries.saturating_add(1));
                self.follow(task, next, at);
            }
            Event::ReviewInterrupted { task, .. } => {
                if let Some(Stage::Review { tip, tree, since, .. }) =
                    self.tasks.get(task).map(|t| t.stage.clone())
                {
                    let not_before = Timestamp::ZERO;
                    self.enter(task, Stage::Review { tip, tree, since, not_before, run: None });
                }
            }
            _ => return false,
        }
        true
    }
}
