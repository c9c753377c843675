//! What becomes of a task whose attempt brought no result.

use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::failure::{Consequence, Failure, FailureClass};
use swarm_protocol::outcome::{Ended, Next};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use crate::limits::{HAND_FAILURES_MAX, QUOTA_RETRY_SECS, RESETS_MAX_SECS};
use crate::planted::{self, Bug};
use crate::state::{State, Task};

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
    Failure { text: crate::apply::tail(&failure.text), ..failure }
}

pub(super) fn next_after(state: &State, task: &Task, how: &Ended, now: Timestamp) -> Next {
    match how {
        Ended::NotStarted { text } => Next::Blocked { block: BlockKind::Setup, why: text.clone() },
        Ended::NoWorkspace { text } => {
            if task.retries + 1 > state.policy.max_retries.max(HAND_FAILURES_MAX) {
                return Next::Blocked { block: BlockKind::Setup, why: text.clone() };
            }
            retry(state, task, now)
        }
        Ended::Timeout { text } => out_of_time(state, task, text.clone(), now),
        Ended::Failed { failure } => after_failure(state, task, failure, how, now),
        _ => crashed(state, task, how, now),
    }
}

fn after_failure(state: &State, task: &Task, failure: &Failure, how: &Ended, now: Timestamp) -> Next {
    match failure.class.consequence() {
        Consequence::Transient => transient(state, task, failure, now),
        Consequence::Quota => {
            let secs = failure.resets_in_secs.unwrap_or(QUOTA_RETRY_SECS).clamp(1, RESETS_MAX_SECS);
            Next::Pending { not_before: now.plus_secs(secs), counts: false }
        }
        Consequence::Setup => Next::Blocked { block: BlockKind::Setup, why: with_hint(failure) },
        Consequence::OnceMore if task.once_more == 0 => {
            Next::Pending { not_before: now.plus_ms(backoff_ms(state, 1)), counts: false }
        }
        Consequence::OnceMore => {
            let why = format!("{}; twice in a row", with_hint(failure));
            Next::Blocked { block: BlockKind::Human, why }
        }
        Consequence::Denied => Next::Blocked { block: BlockKind::Sandbox, why: with_hint(failure) },
        Consequence::Timeout | Consequence::Loop => out_of_time(state, task, failure.sentence(), now),
        Consequence::Overflow | Consequence::Crash | Consequence::Silence => crashed(state, task, how, now),
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

fn crashed(state: &State, task: &Task, how: &Ended, now: Timestamp) -> Next {
    let n = task.retries + 1;
    if n > state.policy.max_retries {
        let why = format!("{n} attempts failed, the last one {}", how.words());
        return Next::Blocked { block: BlockKind::Retries, why };
    }
    retry(state, task, now)
}

fn retry(state: &State, task: &Task, now: Timestamp) -> Next {
    Next::Pending { not_before: now.plus_ms(backoff_ms(state, task.retries + 1)), counts: true }
}

/// What was wrong, and the command that helps.
fn with_hint(failure: &Failure) -> String {
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
