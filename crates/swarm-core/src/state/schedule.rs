//! Which ready task is granted next, and why, in words.
//!
//! Every task ages at the same rate, so the order of two tasks never changes by waiting and no
//! sorting is needed: the key is the moment the task came into the queue, put earlier by what speaks
//! for it. A task of the lowest priority that unblocks nothing is overtaken for at most
//! `LEAD_MAX` and then is the oldest.

use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;

use super::{State, Task};

/// What one step of priority is worth in waiting time.
const PRIORITY_LEAD_MS: i64 = 10 * 60 * 1000;
/// What each waiting dependent is worth.
const UNBLOCKS_LEAD_MS: i64 = 5 * 60 * 1000;
/// More dependents than this bring no further lead.
const UNBLOCKS_COUNTED: u64 = 12;
/// A task that was tried before goes first among equals: its worktree is warm.
const TRIED_LEAD_MS: i64 = 60 * 1000;
/// More than any waiting time and lead together: a thousand years.
const FIRST_LEAD_MS: i64 = 1_000 * 365 * 24 * 3_600_000;
/// The largest lead there is.
pub const LEAD_MAX_MS: i64 =
    2 * PRIORITY_LEAD_MS + UNBLOCKS_COUNTED as i64 * UNBLOCKS_LEAD_MS + TRIED_LEAD_MS;

/// Priority when the plan gives none.
pub const PRIORITY_DEFAULT: u8 = 2;

/// Smaller is sooner; tasks that came at the same moment keep the order of the plan.
pub type OrderKey = (i64, u32, i64);

pub fn order_key(task: &Task, since: Timestamp, unblocks: u64) -> OrderKey {
    // What waited for quota goes before everything that did not, in its own order.
    let first = if task.first { FIRST_LEAD_MS } else { 0 };
    (since.0 as i64 - lead_ms(task, unblocks) - first, task.phase, task.rank)
}

fn lead_ms(task: &Task, unblocks: u64) -> i64 {
    let priority = i64::from(task.spec.priority.unwrap_or(PRIORITY_DEFAULT).min(4));
    let tried = if task.attempts > 0 { TRIED_LEAD_MS } else { 0 };
    (i64::from(PRIORITY_DEFAULT) - priority) * PRIORITY_LEAD_MS
        + unblocks.min(UNBLOCKS_COUNTED) as i64 * UNBLOCKS_LEAD_MS
        + tried
}

/// Why this task, in words: `unblocks 2, priority 1`.
pub fn because(state: &State, id: &TaskId, now: Timestamp) -> String {
    let Some(task) = state.task(id) else { return String::new() };
    let mut reasons = Vec::new();
    if task.first {
        reasons.push("its quota is back".into());
    }
    let unblocks = state.index.unblocks(state, id);
    if unblocks > 0 {
        reasons.push(format!("unblocks {unblocks}"));
    }
    if let Some(priority) = task.spec.priority.filter(|p| *p != PRIORITY_DEFAULT) {
        reasons.push(format!("priority {priority}"));
    }
    if task.attempts > 0 {
        reasons.push(format!("tried {} before", times(task.attempts)));
    }
    if state.needs_start(task) {
        reasons.push(format!("waits for swarm task start {id}"));
    }
    if let crate::stage::Stage::Pending { since, not_before } = task.stage {
        if not_before > now {
            reasons.push(format!("not before {}", not_before.clock(now)));
        } else if now.secs_since(since) >= 60 {
            reasons.push(format!("waiting {} min", now.secs_since(since) / 60));
        }
    }
    if reasons.is_empty() { "next in the plan".into() } else { reasons.join(", ") }
}

fn times(n: u32) -> String {
    match n {
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}
