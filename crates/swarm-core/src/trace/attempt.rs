//! One attempt at a task, from the claim to the record that takes the task out of its hands.

use std::collections::BTreeMap;

use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, RunId};
use swarm_protocol::outcome::Ended;
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;

use super::merge::Merge;
use super::span::{Key, Open, Span};
use super::{Program, ended_by, names};
use crate::how_ended::class;
use crate::state::flow::takes_out_of_hand;

#[derive(Debug, Clone)]
pub(super) struct Attempt {
    span: Open,
    run: Option<RunId>,
    agent: Option<AgentId>,
    pub program: Program,
    /// Since when its agent is at an iteration; none while it is not.
    working: Option<Timestamp>,
    iterations: u32,
    used: Usage,
    check: Option<Open>,
    reviews: BTreeMap<RunId, (Open, Usage)>,
    merge: Option<Merge>,
    merged: bool,
}

impl Attempt {
    /// The attempt that begins with this record, if one does. Work that needs no agent begins where the swarm takes it up.
    pub fn begun_by(key: Key<'_>, seq: u64, event: &Event, at: Timestamp) -> Option<Self> {
        let task = event.task()?;
        let (mut run_of, mut agent_of) = (None, None);
        let mut span = match event {
            Event::TaskClaimed { run, agent, attempt, profile, .. } => {
                let mut span = key.open(names::TASK, &["attempt", run.as_str()], at);
                span.say(names::TASK_ID, task.as_str());
                span.say(names::ATTEMPT, *attempt);
                span.say(names::RUN, run.as_str());
                span.say(names::AGENT_NAME, agent.as_str());
                if let Some(profile) = profile {
                    span.say(names::PROFILE, profile.as_str());
                }
                (run_of, agent_of) = (Some(run.clone()), Some(agent.clone()));
                span
            }
            Event::ReviewStarted { .. } | Event::TrunkGranted { .. } => {
                let mut span = key.open(names::TASK, &["work", &seq.to_string()], at);
                span.say(names::TASK_ID, task.as_str());
                span
            }
            _ => return None,
        };
        span.task = Some(task.clone());
        span.name = format!("{} {task}", names::TASK);
        Some(Self {
            span,
            run: run_of,
            agent: agent_of,
            program: Program::default(),
            working: None,
            iterations: 0,
            used: Usage::default(),
            check: None,
            reviews: BTreeMap::new(),
            merge: None,
            merged: false,
        })
    }

    pub fn note(
        &mut self,
        ledger: &str,
        seq: u64,
        event: &Event,
        at: Timestamp,
        ended: &mut dyn FnMut(Span),
    ) {
        match event {
            Event::AgentSpawned { run, .. } if self.is_of(run) => self.working = Some(at),
            Event::Iteration { run, .. } if self.is_of(run) => self.note_iteration(ledger, event, at, ended),
            Event::WorkSubmitted { run, iteration, tip, .. }
            | Event::CheckingResumed { run, iteration, tip, .. } => {
                self.working = None;
                let [check, seq] = of_check(seq);
                let mut check = self.span.open(ledger, names::CHECK, &[&check, &seq], at);
                check.say(names::RUN, run.as_str());
                check.say(names::ITERATION, *iteration);
                check.say(names::COMMIT, tip.as_str());
                self.check = Some(check);
            }
            Event::ChecksPassed { .. } => ended_by(self.check.take(), at, None, ended),
            Event::ChecksFailed { .. } => {
                ended_by(self.check.take(), at, Some("checks_failed"), ended);
                self.working = Some(at);
            }
            Event::WorkReopened { .. } => {
                ended_by(self.check.take(), at, None, ended);
                self.working = Some(at);
            }
            Event::AgentCompleted { .. } => self.working = None,
            Event::MergeCompleted { .. } => self.merged = true,
            _ => self.note_review(ledger, event, at, ended),
        }
        Merge::note(&mut self.merge, &self.span, ledger, seq, event, at, ended);
    }

    fn is_of(&self, run: &RunId) -> bool {
        self.run.as_ref() == Some(run)
    }

    fn note_iteration(&mut self, ledger: &str, event: &Event, at: Timestamp, ended: &mut dyn FnMut(Span)) {
        let Event::Iteration { iteration, usage, session, class, .. } = event else { return };
        self.iterations = *iteration;
        let usage = usage.unwrap_or_default();
        self.used = self.used.plus(usage);
        let since = self.working.replace(at);
        let mut span = self.iteration(ledger, since.unwrap_or(at));
        span.say_usage(&usage);
        if let Some(session) = session {
            span.say(names::CONVERSATION_ID, session.as_str());
        }
        ended(span.end(at, class.map(|class| class.word())));
    }

    fn iteration(&self, ledger: &str, since: Timestamp) -> Open {
        let run = self.run.as_ref().map_or("", RunId::as_str);
        let [kind, of, number] = parts_of_iteration(run, self.iterations);
        let mut span = self.span.open(ledger, names::INVOKE_AGENT, &[&kind, &of, &number], since);
        span.say(names::OPERATION_NAME, names::INVOKE_AGENT);
        span.say(names::RUN, run);
        span.say(names::ITERATION, self.iterations);
        if let Some(agent) = &self.agent {
            span.say(names::AGENT_NAME, agent.as_str());
            span.name = format!("{} {agent}", names::INVOKE_AGENT);
        }
        span.say_program(&self.program.name, self.program.model.as_deref());
        span
    }

    fn note_review(&mut self, ledger: &str, event: &Event, at: Timestamp, ended: &mut dyn FnMut(Span)) {
        let mut over = |review: Option<(Open, Usage)>, error| {
            if let Some((mut span, usage)) = review {
                span.say_usage(&usage);
                ended(span.end(at, error));
            }
        };
        match event {
            Event::ReviewStarted { run, round, profile, member, tip, .. } => {
                let mut span = self.span.open(ledger, names::REVIEW, &["review", run.as_str()], at);
                span.say(names::RUN, run.as_str());
                span.say(names::ROUND, *round);
                span.say(names::COMMIT, tip.as_str());
                for (name, word) in [(names::PROFILE, profile), (names::MEMBER, member)] {
                    if let Some(word) = word {
                        span.say(name, word.as_str());
                    }
                }
                self.reviews.insert(run.clone(), (span, Usage::default()));
            }
            // What follows from it is recorded next.
            Event::ReviewAnswered { run, usage: Some(usage), .. } => {
                self.used = self.used.plus(*usage);
                if let Some((_, used)) = self.reviews.get_mut(run) {
                    *used = used.plus(*usage);
                }
            }
            Event::CouncilSpoke { run, .. } => over(self.reviews.remove(run), None),
            Event::ReviewFailed { run, .. } => over(self.reviews.remove(run), Some("needs_changes")),
            Event::ReviewLost { run, .. } => over(self.reviews.remove(run), Some("review_lost")),
            Event::TaskApproved { .. } | Event::ReviewInterrupted { .. } => {
                std::mem::take(&mut self.reviews).into_values().for_each(|review| over(Some(review), None));
            }
            Event::ChangesRequested { .. } => {
                let error = Some("needs_changes");
                std::mem::take(&mut self.reviews).into_values().for_each(|review| over(Some(review), error));
            }
            _ => {}
        }
    }

    /// How it ended, if the record ends it: a word of a closed list, and what was wrong.
    pub fn ended_by(&self, event: &Event) -> Option<(&'static str, Option<&'static str>)> {
        if !takes_out_of_hand(event) {
            return None;
        }
        match event {
            Event::AgentFailed { how: Ended::Stopped, .. } | Event::AgentStopped { .. } => {
                return Some(("stopped", None));
            }
            Event::AgentFailed { how, .. } => return Some(("failed", Some(class(how)))),
            Event::TaskRemoved { .. } => return Some(("removed", None)),
            _ => {}
        }
        let error = match event {
            Event::ReviewFailed { .. } | Event::ChangesRequested { .. } => Some("needs_changes"),
            Event::VerificationFailed { .. } => Some("verification_failed"),
            Event::MergeFailed { .. } => Some("merge_failed"),
            _ => None,
        };
        match event.status()? {
            Status::Pending => Some(("sent_back", error)),
            Status::Done if self.merged => Some(("merged", None)),
            status => Some((status.word(), error)),
        }
    }

    pub fn end(
        mut self,
        ledger: &str,
        at: Timestamp,
        outcome: &'static str,
        error: Option<&'static str>,
        ended: &mut dyn FnMut(Span),
    ) {
        // An iteration that was cut off; at its boundary nothing was.
        if let Some(since) = self.working.filter(|since| *since < at) {
            self.iterations += 1;
            ended(self.iteration(ledger, since).end(at, error.or(Some("stopped"))));
        }
        let cut = error.or(Some("stopped"));
        ended_by(self.check.take(), at, cut, ended);
        for (mut span, usage) in std::mem::take(&mut self.reviews).into_values() {
            span.say_usage(&usage);
            ended(span.end(at, cut));
        }
        if let Some(merge) = self.merge.take() {
            merge.end(at, outcome, cut, ended);
        }
        if self.run.is_some() {
            self.span.say(names::ITERATIONS, self.iterations);
        }
        self.span.say(names::OUTCOME, outcome);
        self.span.say_usage(&self.used);
        ended(self.span.end(at, error));
    }
}

/// What an iteration is known by, once in a ledger.
pub(super) fn of_iteration(run: &RunId, iteration: u32) -> [String; 3] {
    parts_of_iteration(run.as_str(), iteration)
}

fn parts_of_iteration(run: &str, iteration: u32) -> [String; 3] {
    ["iteration".to_owned(), run.to_owned(), iteration.to_string()]
}

/// Checks are known by the record that they began with.
pub(super) fn of_check(seq: u64) -> [String; 2] {
    ["check".to_owned(), seq.to_string()]
}
