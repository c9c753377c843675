//! What the ledger says as spans: one trace for each run of the swarm, made of nothing but the records.
//!
//! ```text
//! invoke_workflow      from the coordinator that began it to the one that left in good order with nothing under way
//!   swarm.task         an attempt, from its claim to the record that takes the task out of its hands
//!     invoke_agent     an iteration
//!     swarm.check
//!     swarm.review
//!     swarm.merge      as long as the trunk is its own
//!       swarm.build, swarm.verify, swarm.publish
//!   swarm.operation    an intervention
//! plan                 an agent that proposed a plan or the parts of a task, as far as somebody took it
//! ```
//!
//! A coordinator that is killed ends nothing: the next one goes on with the same records, and so with the same spans.
//! What is remembered is what is under way, however long the ledger is.

pub(crate) mod names;
mod span;
mod attempt;
mod merge;
mod otlp;
mod parent;
mod plan;
mod tool;

use std::collections::BTreeMap;

use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::policy::ProfileRule;
use swarm_protocol::time::Timestamp;

use crate::state::flow::Flow;
use attempt::Attempt;
pub use names::CONVENTIONS;
pub use otlp::request;
pub use parent::traceparent;
use span::{Key, Open};
pub use span::{Span, SpanId, TraceId, Value};
pub use tool::{calls_wanted, span_of_tool};

/// Characters of the goal that name a workflow.
const NAME_MAX: usize = 80;

/// Built record by record.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    ledger: String,
    goal: String,
    /// What belongs to what, and when a run of the swarm is over.
    flow: Flow,
    workflow: Option<Workflow>,
    attempts: BTreeMap<TaskId, Attempt>,
    operations: BTreeMap<CommandId, Open>,
    /// The profile of those that name none, and what all profiles run.
    profile: String,
    programs: BTreeMap<String, Program>,
}

/// What runs under a profile.
#[derive(Debug, Clone, Default)]
struct Program {
    name: String,
    model: Option<String>,
}

/// One run of the swarm, however many coordinators it took.
#[derive(Debug, Clone)]
struct Workflow {
    span: Open,
    coordinators: u64,
}

impl Spans {
    /// Takes a record in, and gives what it ends.
    pub fn note(&mut self, seq: u64, event: &Event, at: Timestamp, ended: &mut dyn FnMut(Span)) {
        self.flow.note(seq, event);
        match event {
            Event::PlanCreated { ledger_id, goal, .. } => {
                self.ledger.clone_from(ledger_id);
                self.goal.clone_from(goal);
            }
            Event::PlanUpdated { goal, .. } => self.goal.clone_from(goal),
            Event::CoordinatorStarted { epoch, policy, .. } => {
                let program = |rule: &ProfileRule| {
                    let (name, model) = (rule.program.clone(), rule.model.clone());
                    (rule.name.clone(), Program { name, model })
                };
                self.programs = policy.profiles.iter().map(program).collect();
                self.profile.clone_from(&policy.profile);
                self.begin(seq, *epoch, at);
            }
            Event::PlanReset { .. } => self.end_attempts(at, "reset", None, ended),
            Event::PlanClosed { .. } => self.end_all(at, "closed", None, ended),
            // What the lost records ended is not known.
            Event::LedgerLoss { .. } => self.end_all(at, "unknown", Some("ledger_loss"), ended),
            Event::Operation { .. }
            | Event::OperationAsked { .. }
            | Event::OperationFinished { .. }
            | Event::OperationFailed { .. } => self.note_operation(event, at, ended),
            _ => self.note_task(seq, event, at, ended),
        }
        if self.flow.began.is_none() {
            self.end_workflow(at, ended);
        }
    }

    /// What is under way, as it would be if it ended now: no span of these is the one that comes.
    pub fn under_way(&self, at: Timestamp, each: &mut dyn FnMut(Span)) {
        let mut rest = self.clone();
        let mut unfinished = |mut span: Span| {
            span.attributes.push((names::UNFINISHED, Value::Yes));
            each(span);
        };
        rest.end_all(at, "under_way", None, &mut unfinished);
        rest.end_workflow(at, &mut unfinished);
    }

    /// The id of the ledger whose spans these are; empty before its first record.
    pub fn ledger(&self) -> &str {
        &self.ledger
    }

    fn key(&self) -> Key<'_> {
        let within = self.workflow.as_ref().map(|workflow| (workflow.span.trace, workflow.span.id));
        Key { ledger: &self.ledger, within }
    }

    fn begin(&mut self, seq: u64, epoch: u64, at: Timestamp) {
        if let Some(workflow) = &mut self.workflow {
            workflow.coordinators += 1;
            return;
        }
        let mut span = self.key().open(names::INVOKE_WORKFLOW, &["workflow", &seq.to_string()], at);
        let name: String = self.goal.lines().next().unwrap_or_default().chars().take(NAME_MAX).collect();
        span.say(names::OPERATION_NAME, names::INVOKE_WORKFLOW);
        span.say(names::WORKFLOW_NAME, name.as_str());
        span.say(names::EPOCH, epoch);
        span.name = format!("{} {name}", names::INVOKE_WORKFLOW);
        self.workflow = Some(Workflow { span, coordinators: 1 });
    }

    fn note_operation(&mut self, event: &Event, at: Timestamp, ended: &mut dyn FnMut(Span)) {
        match event {
            Event::Operation { id, kind, subject, planning, .. } => {
                if let Some(planning) = planning {
                    ended(plan::span(&self.ledger, id, planning));
                }
                ended(self.operation(id, kind, subject.as_deref(), at).end(at, None));
            }
            Event::OperationAsked { id, kind, subject, .. } => {
                let span = self.operation(id, kind, subject.as_deref(), at);
                self.operations.insert(id.clone(), span);
            }
            Event::OperationFinished { id, .. } => {
                ended_by(self.operations.remove(id), at, None, ended);
            }
            Event::OperationFailed { id, .. } => {
                ended_by(self.operations.remove(id), at, Some("operation_failed"), ended);
            }
            _ => {}
        }
    }

    fn operation(&self, id: &CommandId, kind: &str, subject: Option<&str>, at: Timestamp) -> Open {
        let mut span = self.key().open(names::OPERATION, &["operation", id.as_str()], at);
        span.say(names::OPERATION_ID, id.as_str());
        span.say(names::OPERATION_KIND, kind);
        if let Some(subject) = subject {
            span.say(names::SUBJECT, subject);
        }
        span
    }

    fn note_task(&mut self, seq: u64, event: &Event, at: Timestamp, ended: &mut dyn FnMut(Span)) {
        let Some(task) = event.task() else { return };
        if let Event::TaskClaimed { .. } = event {
            // The one before it should be over; whatever became of it, it is not this one.
            self.end_attempt(task, at, "sent_back", None, ended);
        }
        if !self.attempts.contains_key(task)
            && let Some(mut attempt) = Attempt::begun_by(self.key(), seq, event, at)
        {
            if let Event::TaskClaimed { profile, .. } = event {
                let profile = profile.as_ref().unwrap_or(&self.profile);
                attempt.program = self.programs.get(profile).cloned().unwrap_or_default();
            }
            self.attempts.insert(task.clone(), attempt);
        }
        let ledger = &self.ledger;
        let Some(attempt) = self.attempts.get_mut(task) else { return };
        attempt.note(ledger, seq, event, at, ended);
        if let Some((outcome, error)) = attempt.ended_by(event) {
            self.end_attempt(task, at, outcome, error, ended);
        }
    }

    fn end_attempt(
        &mut self,
        task: &TaskId,
        at: Timestamp,
        outcome: &'static str,
        error: Option<&'static str>,
        ended: &mut dyn FnMut(Span),
    ) {
        if let Some(attempt) = self.attempts.remove(task) {
            attempt.end(&self.ledger, at, outcome, error, ended);
        }
    }

    fn end_attempts(
        &mut self,
        at: Timestamp,
        outcome: &'static str,
        error: Option<&'static str>,
        ended: &mut dyn FnMut(Span),
    ) {
        for (_, attempt) in std::mem::take(&mut self.attempts) {
            attempt.end(&self.ledger, at, outcome, error, ended);
        }
    }

    fn end_all(
        &mut self,
        at: Timestamp,
        outcome: &'static str,
        error: Option<&'static str>,
        ended: &mut dyn FnMut(Span),
    ) {
        self.end_attempts(at, outcome, error, ended);
        for (_, span) in std::mem::take(&mut self.operations) {
            ended(span.end(at, error));
        }
    }

    /// When its coordinator has left and nothing of it goes on.
    fn end_workflow(&mut self, at: Timestamp, ended: &mut dyn FnMut(Span)) {
        let Some(Workflow { mut span, coordinators }) = self.workflow.take() else { return };
        span.say(names::COORDINATORS, coordinators);
        ended(span.end(at, None));
    }
}

fn ended_by(span: Option<Open>, at: Timestamp, error: Option<&'static str>, ended: &mut dyn FnMut(Span)) {
    if let Some(span) = span {
        ended(span.end(at, error));
    }
}
