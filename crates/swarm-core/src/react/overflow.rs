//! The context window is full: once more with a fresh session and a short handover, then the task is
//! too large and a person splits it.

use swarm_protocol::failure::Failure;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use super::failure::with_hint;
use crate::state::Task;

pub(super) fn full(task: &Task, failure: &Failure, now: Timestamp) -> Next {
    if task.overflows == 0 {
        return Next::Pending { not_before: now, counts: false };
    }
    let why = format!("{}; also with a fresh session: the task has to be split", with_hint(failure));
    Next::Blocked { block: BlockKind::Overflow, why }
}
