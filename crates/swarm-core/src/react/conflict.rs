//! Work that conflicts with trunk: what a rule resolved, and what is left to a person.

use swarm_protocol::conflict::{Resolved, by_rule, level, shown};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{Left, SavedStage};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use super::merge::{built_on_the_unknown, merging};
use crate::operation::facts;
use crate::planted::{self, Bug};
use crate::reviewer::reviewer;
use crate::stage::{MergeStep, Stage};
use crate::state::{State, Task};
use crate::text::first_paths;

/// No way was found to put it together.
pub(super) fn left(
    state: &State,
    id: TaskId,
    paths: Vec<String>,
    unmade: Option<String>,
    now: Timestamp,
) -> Vec<Event> {
    let Some((task, MergeStep::Building)) = merging(state, &id) else { return vec![] };
    let shown: Vec<&str> = paths.iter().take(3).map(String::as_str).collect();
    let more = paths.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let unmade = unmade.map(|why| format!(", and {}", crate::text::tail(&why))).unwrap_or_default();
    let why = format!("the work conflicts with trunk in {}{more}{unmade}", shown.join(", "));
    let next = match by_agent(state, task, now) {
        Some(next) => next,
        None => Next::Blocked { block: BlockKind::Conflict, why: why.clone() },
    };
    let work = lies_there_again(task, &id);
    let (status, paths) = (next.status(), first_paths(paths));
    let failed = Event::MergeFailed { task: id, status, why, paths, next, was: None };
    std::iter::once(failed).chain(work).collect()
}

/// Work that is merged once more, after an abort or because it had gone from trunk, has neither branch nor worktree.
/// Where it does not come to trunk it gets them back, for whoever goes on with it.
pub(super) fn lies_there_again(task: &Task, id: &TaskId) -> Option<Event> {
    let (base, tip) = handed_in(task)?;
    let is_bare = (task.bare || !task.worktree) && task.parts.is_empty();
    if !is_bare || task.left.is_some() {
        return None;
    }
    let left = Left { base: base?.clone(), tip: tip.clone(), dirty: None };
    Some(Event::FactsSet { facts: vec![facts::left(id, None, Some(&left))] })
}

/// Where the commits begin that were handed in, and the last of them, also of work that was put off.
fn handed_in(task: &Task) -> Option<(Option<&Oid>, &Oid)> {
    let base = task.base.as_ref();
    match (&task.stage, &task.was) {
        (Stage::Review { tip, .. } | Stage::Approved { tip, .. } | Stage::Merging { tip, .. }, _) => {
            Some((base, tip))
        }
        (Stage::Blocked { .. } | Stage::Deferred, Some(was)) => match was {
            SavedStage::Review { tip, base: began, .. } | SavedStage::Approved { tip, base: began, .. } => {
                Some((began.as_ref().or(base), tip))
            }
            SavedStage::Gone { work: Some(work), .. } => Some((Some(&work.base), &work.tip)),
            _ => None,
        },
        _ => None,
    }
}

/// Whoever did the work, or stands in, merges trunk into the branch and resolves what conflicts: so often, then a person
/// is asked. Only where it is reviewed: which side was dropped no check can tell. What comes of it is checked, reviewed and verified like any other work.
fn by_agent(state: &State, task: &Task, now: Timestamp) -> Option<Next> {
    // A person's own work is a person's to put right, and somebody looks at what an agent makes of two sides.
    let looked_at = reviewer(state, task) != Reviewer::None;
    let agents = task.last_agent.is_some() && task.parts.is_empty() && looked_at;
    let more = task.conflicts < state.policy.resolve_max && agents;
    more.then_some(Next::Pending { not_before: now, counts: false })
}

/// Trunk merged into the task's branch, with the conflicts decided.
pub(super) struct Joined {
    pub base: Oid,
    pub tip: Oid,
    pub tree: Oid,
    pub resolved: Vec<Resolved>,
}

/// An approval is about what was looked at, and that is not what would be merged now: it is looked at again.
pub(super) fn joined(state: &State, id: TaskId, joined: Joined) -> Vec<Event> {
    let Some((task, MergeStep::Building)) = merging(state, &id) else { return vec![] };
    let Joined { base, tip, tree, resolved } = joined;
    if let Some(moved) = built_on_the_unknown(state, task, &base) {
        return moved;
    }
    let (status, level) = (Status::Review, level(&resolved).unwrap_or(1));
    vec![Event::MergeResolved { task: id, status, base, tip, tree, level, resolved }]
}

/// A rule decided about work that is reviewed since: it is built again, for the review.
pub(super) fn unreviewed(state: &State, task: &Task, resolved: &[Resolved]) -> Option<Event> {
    let reviewed = reviewer(state, task) != Reviewer::None && !planted::is(Bug::ApprovalKept);
    let why = "rules decided what conflicts, and its work is reviewed now".into();
    (by_rule(resolved) && reviewed).then(|| Event::MergeInterrupted {
        task: task.spec.id.clone(),
        status: Status::Merging,
        why,
    })
}

/// A merged tree that rules have had a part in is red on a green trunk: the rules may be wrong, and whoever did the task
/// has not seen what they made of it.
pub(super) fn after_red(task: &Task) -> Option<Next> {
    by_rule(&task.resolved).then(|| {
        let files = shown(&task.resolved);
        let why =
            format!("rules resolved its conflicts with trunk in {files}, and that fails its verification");
        Next::Blocked { block: BlockKind::Conflict, why }
    })
}
