//! An approval is about what was looked at. Whatever changes the branch of a task after it, before trunk has the work, makes
//! it void: what is there now is looked at.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use super::merge::merging;
use crate::limits::VOIDS_MAX;
use crate::reviewer::reviewer;
use crate::stage::{MergeStep, Stage};
use crate::state::State;

/// A branch as it is now.
pub(super) struct Branch {
    pub tip: Oid,
    pub tree: Oid,
    /// Where its commits begin, if somewhere else than before.
    pub base: Option<Oid>,
}

/// The branch is at another tree than the commit that was approved, by whoever put it there.
pub(super) fn changed(state: &State, id: TaskId, branch: Branch, now: Timestamp) -> Vec<Event> {
    let at_trunk = merging(state, &id);
    let Some((task, MergeStep::Building | MergeStep::Publishing { .. })) = at_trunk else { return vec![] };
    let Stage::Merging { tip: approved, .. } = &task.stage else { return vec![] };
    if reviewer(state, task) == Reviewer::None {
        // An executor that has not heard of it: what was handed in is merged.
        let why = "nobody reviews it any more".into();
        return vec![Event::MergeInterrupted { task: id, status: Status::Merging, why }];
    }
    let times = task.voids + 1;
    // Something commits there again and again: reviewers are not asked for ever.
    let next = if times < VOIDS_MAX {
        Next::Review { not_before: now }
    } else {
        let why = format!("its branch was changed {times} times after it had been approved");
        Next::Blocked { block: BlockKind::Review, why }
    };
    let (approved, Branch { tip, tree, base }) = (approved.clone(), branch);
    vec![Event::ApprovalVoided { task: id, status: next.status(), approved, tip, tree, next, base }]
}
