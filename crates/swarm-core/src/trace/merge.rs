//! The time in which a task holds the trunk, and what is done in it.

use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use super::span::{Open, Span};
use super::{ended_by, names};

#[derive(Debug, Clone)]
pub(super) struct Merge {
    span: Open,
    step: Option<Open>,
}

impl Merge {
    pub fn note(
        merge: &mut Option<Self>,
        task: &Open,
        ledger: &str,
        seq: u64,
        event: &Event,
        at: Timestamp,
        ended: &mut dyn FnMut(Span),
    ) {
        let seq = seq.to_string();
        if let Event::TrunkGranted { .. } = event {
            if let Some(before) = merge.take() {
                before.end(at, "interrupted", None, ended);
            }
            let span = task.open(ledger, names::MERGE, &["merge", &seq], at);
            let step = Some(span.open(ledger, names::BUILD, &["build", &seq], at));
            *merge = Some(Self { span, step });
            return;
        }
        let Some(held) = merge else { return };
        match event {
            Event::MergeBuilt { result, level, .. } => {
                if let Some(level) = level {
                    held.span.say(names::LEVEL, *level);
                }
                held.next(ledger, names::PUBLISH, &["publish", &seq], at, None, ended);
                if let Some(step) = &mut held.step {
                    step.say(names::COMMIT, result.as_str());
                }
            }
            // A verification comes between; publishing begins when it has passed.
            Event::VerificationStarted { run, .. } | Event::TrunkTrialStarted { run, .. } => {
                held.step = held.step.take().filter(|step| step.kind != names::PUBLISH || step.start < at);
                held.next(ledger, names::VERIFY, &["verify", run.as_str()], at, None, ended);
                if let Some(step) = &mut held.step {
                    step.say(names::RUN, run.as_str());
                }
            }
            Event::VerificationPassed { .. } => {
                held.next(ledger, names::PUBLISH, &["publish", &seq], at, None, ended);
            }
            Event::VerificationRed { .. } => held.stop(at, Some("verification_failed"), ended),
            Event::TrunkJudged { green, .. } => {
                held.stop(at, (!green).then_some("verification_failed"), ended);
            }
            // Trunk moved: built anew.
            Event::RaceLost { .. } => {
                held.next(ledger, names::BUILD, &["build", &seq], at, Some("race_lost"), ended);
            }
            _ => {
                if let Some((outcome, error)) = over(event)
                    && let Some(held) = merge.take()
                {
                    held.end(at, outcome, error, ended);
                }
            }
        }
    }

    fn next(
        &mut self,
        ledger: &str,
        kind: &'static str,
        parts: &[&str],
        at: Timestamp,
        error: Option<&'static str>,
        ended: &mut dyn FnMut(Span),
    ) {
        self.stop(at, error, ended);
        self.step = Some(self.span.open(ledger, kind, parts, at));
    }

    fn stop(&mut self, at: Timestamp, error: Option<&'static str>, ended: &mut dyn FnMut(Span)) {
        ended_by(self.step.take(), at, error, ended);
    }

    pub fn end(
        mut self,
        at: Timestamp,
        outcome: &'static str,
        error: Option<&'static str>,
        ended: &mut dyn FnMut(Span),
    ) {
        self.stop(at, error, ended);
        self.span.say(names::OUTCOME, outcome);
        ended(self.span.end(at, error));
    }
}

/// How the merge ended, if the record ends it.
fn over(event: &Event) -> Option<(&'static str, Option<&'static str>)> {
    match event {
        Event::MergeCompleted { .. } => Some(("merged", None)),
        Event::MergeFailed { .. } => Some(("failed", Some("merge_failed"))),
        Event::VerificationFailed { .. } => Some(("red", Some("verification_failed"))),
        Event::MergeResolved { .. } => Some(("resolved", None)),
        Event::ApprovalVoided { .. } => Some(("voided", None)),
        Event::PublishWaits { .. } => Some(("waits", None)),
        Event::MergeHeld { .. } => Some(("held", None)),
        Event::ProtectedTouched { .. } => Some(("protected", None)),
        Event::NothingChanged { .. } => Some(("empty", None)),
        Event::MergeInterrupted { .. } | Event::TrunkReleased { .. } => Some(("interrupted", None)),
        _ => None,
    }
}
