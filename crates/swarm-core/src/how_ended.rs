//! How attempts end, in one word each: numbers and spans say the same.

use swarm_protocol::failure::FailureClass;
use swarm_protocol::outcome::Ended;

/// Ways to end that are no class of a failing program.
pub(crate) const NO_CLASS: [&str; 6] =
    ["lost", "orphaned", "timeout", "cannot_do", "asks_human", "not_started"];

/// The class of a failure, or how else an attempt ended.
pub(crate) fn class(how: &Ended) -> &'static str {
    match how {
        Ended::Failed { failure } => failure.class.word(),
        Ended::Crashed { .. } => FailureClass::Crashed.word(),
        Ended::Lost { .. } => "lost",
        Ended::Orphaned { .. } => "orphaned",
        Ended::Timeout { .. } => "timeout",
        Ended::CannotDo { .. } => "cannot_do",
        Ended::AsksHuman { .. } => "asks_human",
        Ended::NotStarted { .. } | Ended::NoWorkspace { .. } | Ended::Stopped => "not_started",
    }
}
