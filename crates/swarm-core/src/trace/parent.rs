//! Where a program hangs its own spans: below the span of what it is started for, whose id is known before it is over.

use swarm_protocol::ids::{RunId, TaskId};

use super::attempt::{of_check, of_iteration};
use super::span::{SpanId, TraceId, ids};
use crate::effect::{Effect, WorkOrder};
use crate::state::State;
use crate::state::flow::Work;

/// The span as `TRACEPARENT` names it (W3C Trace Context): version, trace, parent, sampled. None for what starts no program, and
/// before there is a ledger.
pub fn traceparent(state: &State, effect: &Effect) -> Option<String> {
    let ledger = state.plan.as_ref()?.ledger_id.as_str();
    let around = Around { state, ledger };
    let (trace, span) = match effect {
        Effect::Work { run, task, order: WorkOrder::Go { iteration, .. }, .. } => {
            around.of_task(task, |_| Some(of_iteration(run, *iteration).to_vec()))
        }
        Effect::Work { task, order: WorkOrder::Check { .. }, .. } => {
            around.of_task(task, |work| Some(of_check(work.check?).to_vec()))
        }
        // The trial of a commit that a task began with belongs to no merge.
        Effect::Verify { task, checks: true, .. } => around.of_task(task, |_| None),
        Effect::Verify { task, run, .. } => around.of_task(task, |_| Some(named("verify", run))),
        Effect::Review { task, run, .. } => around.of_task(task, |_| Some(named("review", run))),
        Effect::Hook { n, .. } => around.of_hook(*n),
        Effect::Probe { .. } => around.of_swarm(),
        _ => None,
    }?;
    Some(format!("00-{}-{}-01", trace.hex(), span.hex()))
}

struct Around<'a> {
    state: &'a State,
    ledger: &'a str,
}

impl Around<'_> {
    /// The run of the swarm.
    fn of_swarm(&self) -> Option<(TraceId, SpanId)> {
        self.state.flow.began.map(|began| ids(self.ledger, &["workflow", &began.to_string()]))
    }

    /// A part of the task's attempt, or the attempt itself; the run of the swarm where nothing is under way.
    fn of_task(
        &self,
        task: &TaskId,
        part: impl FnOnce(&Work) -> Option<Vec<String>>,
    ) -> Option<(TraceId, SpanId)> {
        let Some(work) = self.state.flow.attempts.get(task) else { return self.of_swarm() };
        let (own, attempt) = ids(self.ledger, &texts(&parts_of(work)));
        let trace = match work.within {
            Some(began) => ids(self.ledger, &["workflow", &began.to_string()]).0,
            None => own,
        };
        let span = part(work).map_or(attempt, |part| ids(self.ledger, &texts(&part)).1);
        Some((trace, span))
    }

    /// The attempt that waits for it or that it is about, the operation, or the run of the swarm.
    fn of_hook(&self, n: u64) -> Option<(TraceId, SpanId)> {
        let hook = self.state.ops.hooks.get(&n)?;
        let flow = &self.state.flow;
        let waits = |work: &&Work| hook.run.is_some() && work.run == hook.run;
        let about = hook.subject.as_deref().and_then(|subject| TaskId::new(subject).ok());
        let waiting = flow.attempts.iter().find(|(_, work)| waits(work)).map(|(task, _)| task.clone());
        match waiting.or(about.filter(|task| flow.attempts.contains_key(task))) {
            Some(task) => self.of_task(&task, |_| None),
            None => self.of_swarm(),
        }
    }
}

/// What an attempt is known by, once in a ledger.
fn parts_of(work: &Work) -> Vec<String> {
    match &work.run {
        Some(run) => named("attempt", run),
        None => vec!["work".to_owned(), work.began.to_string()],
    }
}

fn named(kind: &str, run: &RunId) -> Vec<String> {
    vec![kind.to_owned(), run.to_string()]
}

fn texts(parts: &[String]) -> Vec<&str> {
    parts.iter().map(String::as_str).collect()
}
