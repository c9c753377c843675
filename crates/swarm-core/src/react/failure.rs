//! What becomes of a task whose attempt brought no result: each way to fail has its own arc.

use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure, FailureClass};
use swarm_protocol::outcome::{Ended, Next, PauseReason};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use super::work::Live;
use super::{denied, overflow, quota, restart};
use crate::limits::{EFFECT_FAILURES_MAX, RESETS_MAX_SECS};
use crate::planted::{self, Bug};
use crate::state::{State, Task};

/// What becomes of the task, and what else follows from the end of its attempt.
pub(super) struct Consequences {
    pub next: Next,
    pub then: Vec<Event>,
}

impl From<Next> for Consequences {
    fn from(next: Next) -> Self {
        Self { next, then: vec![] }
    }
}

/// How an iteration failed; none when it ended in good order, whatever the agent said.
pub(super) fn class_of(outcome: &IterationOutcome) -> Option<FailureClass> {
    match outcome {
        IterationOutcome::Complete
        | IterationOutcome::NoSignal
        | IterationOutcome::AsksHuman { .. }
        | IterationOutcome::CannotDo { .. } => None,
        IterationOutcome::Crashed { .. } => Some(FailureClass::Crashed),
        IterationOutcome::NotStarted { .. } => Some(FailureClass::Configuration),
        IterationOutcome::Failed { failure } => Some(failure.class),
    }
}

/// A program may say a great deal when it fails; its end is kept.
pub(super) fn shortened(failure: Failure) -> Failure {
    Failure { text: crate::text::tail(&failure.text), ..failure }
}

pub(super) fn arc(state: &State, l: &Live<'_>, how: &Ended, now: Timestamp) -> Consequences {
    let task = l.task;
    match how {
        Ended::NotStarted { text } => {
            Consequences::from(Next::Blocked { block: BlockKind::Setup, why: text.clone() })
        }
        // Nobody's fault: it is made when there is room again.
        Ended::NoWorkspace { .. } if state.paused.contains_key(&PauseReason::Disk) => {
            Consequences::from(Next::Pending { not_before: now, counts: false })
        }
        Ended::NoWorkspace { text } => {
            if task.retries + 1 > state.policy.max_retries.max(EFFECT_FAILURES_MAX) {
                return Consequences::from(Next::Blocked { block: BlockKind::Setup, why: text.clone() });
            }
            Consequences::from(retry(state, task, now))
        }
        Ended::Timeout { text } => Consequences::from(out_of_time(state, task, text.clone(), now)),
        Ended::Orphaned { .. } if state.policy.orphans_wait => {
            let why = format!("{}; `recovery.autoResetOrphaned` is off", how.describe());
            Consequences::from(Next::Blocked { block: BlockKind::Human, why })
        }
        Ended::Orphaned { .. } => Consequences::from(restart::retry_or_block(state, task, how, now)),
        Ended::Failed { failure } => after_failure(state, l, failure, how, now),
        _ => restart::crashed(state, task, l.agent, l.run, how, now),
    }
}

fn after_failure(
    state: &State,
    l: &Live<'_>,
    failure: &Failure,
    how: &Ended,
    now: Timestamp,
) -> Consequences {
    let task = l.task;
    match failure.class.consequence() {
        Consequence::Transient => {
            quota::weather(state, l, failure, transient(state, task, failure, now), now)
        }
        Consequence::Quota => quota::used_up(state, l.into(), failure, now),
        Consequence::Setup if matches!(failure.class, FailureClass::Key | FailureClass::Billing) => {
            quota::refused_key(state, l, failure, now)
        }
        Consequence::Setup => {
            Consequences::from(Next::Blocked { block: BlockKind::Setup, why: with_hint(failure) })
        }
        Consequence::OnceMore if task.once_more == 0 => {
            Consequences::from(Next::Pending { not_before: now.plus_ms(backoff_ms(state, 1)), counts: false })
        }
        Consequence::OnceMore => {
            let why = format!("{}; twice in a row", with_hint(failure));
            Consequences::from(Next::Blocked { block: BlockKind::Human, why })
        }
        Consequence::Overflow => Consequences::from(overflow::full(task, failure, now)),
        Consequence::Denied => denied::denied(state, l, failure, now),
        Consequence::Timeout | Consequence::Loop => {
            Consequences::from(out_of_time(state, task, failure.sentence(), now))
        }
        Consequence::Crash | Consequence::Silence => restart::crashed(state, task, l.agent, l.run, how, now),
    }
}

/// A service or a network: waited out, longer each time, not held against the task.
fn transient(state: &State, task: &Task, failure: &Failure, now: Timestamp) -> Next {
    let n = task.transient_retries + 1;
    if n > state.policy.transient_max {
        let why = format!("{}; {n} times in a row", with_hint(failure));
        return Next::Blocked { block: BlockKind::Retries, why };
    }
    let asked_ms = failure.resets_in_secs.unwrap_or(0).min(RESETS_MAX_SECS) * 1000;
    let not_before = now.plus_ms(backoff_ms(state, n).max(asked_ms));
    Next::Pending { not_before, counts: planted::is(Bug::TransientCounted) }
}

fn out_of_time(state: &State, task: &Task, why: String, now: Timestamp) -> Next {
    if task.retries + 1 > state.policy.max_retries { Next::Timeout { why } } else { retry(state, task, now) }
}

pub(super) fn retry(state: &State, task: &Task, now: Timestamp) -> Next {
    Next::Pending { not_before: now.plus_ms(backoff_ms(state, task.retries + 1)), counts: true }
}

/// What was wrong, and the command that helps.
pub(super) fn with_hint(failure: &Failure) -> String {
    match &failure.hint {
        Some(hint) => format!("{}; `{hint}` helps", failure.sentence()),
        None => failure.sentence(),
    }
}

/// min(2^n, limit) seconds, and up to a fifth more, so that tasks that failed together do not
/// come back together. The fifth comes from the ledger's position: no randomness in here.
pub(super) fn backoff_ms(state: &State, n: u32) -> u64 {
    let secs = 2u64.saturating_pow(n.min(32)).min(state.policy.backoff_max_secs);
    let ms = secs * 1000;
    ms + ms / 5 * (state.seq.wrapping_mul(0x9e37_79b9) % 100) / 100
}
