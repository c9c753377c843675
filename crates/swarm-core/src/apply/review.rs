//! Events of a review: asked for, started, its verdict, its loss.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::Oid;
use swarm_protocol::outcome::{Ended, Next};
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{State, Task};
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
            Event::ReviewStarted { task, run, nonce, profile, .. } => {
                self.claim_run(RunKind::Review, task, run, nonce, at);
                if let Some(claimed) = self.runs.get_mut(run) {
                    claimed.profile.clone_from(profile);
                }
                self.change(task, |t| {
                    if let Stage::Review { run: current, .. } = &mut t.stage {
                        *current = Some(run.clone());
                    }
                });
            }
            Event::ReviewAnswered { task, run, usage, session, .. } => {
                self.spend(task, run, usage.unwrap_or_default());
                let profile = self.runs.get(run).and_then(|run| run.profile.clone());
                if let (Some(profile), Some(session)) = (profile, session) {
                    self.review_sessions.insert(profile, session.clone());
                }
            }
            Event::ReviewFailed { task, run, output, next, .. } => {
                self.end(run);
                self.change(task, |t| {
                    t.sent_back = in_review(t);
                    t.review_rounds += 1;
                    t.transient_retries = 0;
                    t.last_failure = Some(tail(output));
                });
                self.follow(task, next, at);
            }
            Event::ChangesRequested { task, notes, next, run, tip, .. } => {
                let lines: Vec<String> = notes.iter().map(|note| format!("- {note}")).collect();
                let who = if run.is_some() { "The reviewer" } else { "A person" };
                let said = format!("{who} reviewed the work and wants changes:\n{}", lines.join("\n"));
                if let Some(run) = run {
                    self.end(run);
                }
                self.change(task, |t| {
                    t.sent_back = Some(tip.clone());
                    t.review_rounds += 1;
                    t.transient_retries = 0;
                    t.last_failure = Some(tail(&said));
                });
                self.follow(task, next, at);
            }
            Event::ReviewLost { task, run, next, why, .. } => {
                // A conversation that led to nothing is not gone on with.
                let profile = self.runs.get(run).and_then(|run| run.profile.clone());
                let by_agent = profile.is_some();
                if let Some(profile) = profile {
                    self.review_sessions.remove(&profile);
                }
                self.end(run);
                let asks_person = by_agent && matches!(next, Next::Blocked { .. });
                self.change(task, |t| {
                    t.transient_retries = t.transient_retries.saturating_add(1);
                    // Nothing is wrong with the work: whoever takes the task up checks it and does not do it again.
                    if asks_person {
                        t.submitted = in_review(t);
                        t.last_end = Some(Ended::Lost { text: why.clone() });
                    }
                });
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

/// The commit that is being reviewed.
fn in_review(task: &Task) -> Option<Oid> {
    match &task.stage {
        Stage::Review { tip, .. } => Some(tip.clone()),
        _ => None,
    }
}
