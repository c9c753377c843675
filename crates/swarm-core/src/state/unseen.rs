//! What waits to be seen by a person, by name. The name says how much they were shown: what comes later stays.

use super::Task;
use super::operations::Record;

/// The name of the entry about an operation that failed.
pub(crate) fn failure_seen_by(record: &Record) -> String {
    format!("operation/{}", record.id.as_str())
}

/// The name of the entry about a task's first `oversteps` oversteps.
pub(crate) fn overstep_seen_by(task: &Task, oversteps: u32) -> String {
    format!("overstep/{}/{oversteps}", task.spec.id)
}

/// The name of the entry about messages of a task that no agent was given.
pub(crate) fn messages_seen_by(task: &Task) -> String {
    format!("messages/{}", task.spec.id)
}

pub(crate) fn has_undelivered(task: &Task) -> bool {
    task.messages.iter().any(|m| m.undelivered.is_some() && !m.seen)
}
