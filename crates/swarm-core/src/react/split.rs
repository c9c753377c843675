//! A task that is too large becomes parts. It waits for them, and is done when they are and trunk
//! passes its verification.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Gate;
use swarm_protocol::plan::{Status, TaskSpec};
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{task, validate};
use crate::limits::{PARTS_MAX, SPLIT_DEPTH_MAX, TASKS_MAX};
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{State, Task};

pub(super) fn split(state: &State, id: TaskId, parts: Vec<TaskSpec>) -> Result<Outcome, Refusal> {
    let parent = validate::known(state, &id)?;
    let may = matches!(
        parent.stage,
        Stage::Pending { .. }
            | Stage::Blocked { .. }
            | Stage::Failed { .. }
            | Stage::Timeout { .. }
            | Stage::Deferred
    );
    if !may || !parent.parts.is_empty() {
        return Err(task::wrong(state, &id, parent, "split"));
    }
    if state.trunk_held_by.as_ref() == Some(&id) {
        return Err(task::wrong(state, &id, parent, "split before its merge has come to rest"));
    }
    fits(state, &id, parent, &parts)?;
    let parts = with_depends(state, parent, parts);
    acyclic(state, &id, &parts)?;
    let mut events = Vec::new();
    let mut after = id.clone();
    for spec in &parts {
        validate::spec(spec)?;
        let (task, phase) = (spec.id.clone(), parent.phase);
        events.push(Event::TaskAdded { task: task.clone(), phase, after: Some(after), spec: spec.clone() });
        // A person who lets the whole start lets its parts start.
        events.extend(parent.started.then(|| Event::TaskStarted { task: task.clone() }));
        after = task;
    }
    let names: Vec<TaskId> = parts.into_iter().map(|spec| spec.id).collect();
    let shown = names.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
    // Where it was handed in and put off, the first part goes on with that.
    events.extend(super::conflict::lies_there_again(parent, &id));
    let (status, why) = (Status::Active, "split by a person".into());
    events.push(Event::TaskSplit { task: id.clone(), status, parts: names, why });
    Ok(Outcome::new(events, format!("Task {id} is split into {shown} and is done when they are")))
}

fn fits(state: &State, id: &TaskId, parent: &Task, parts: &[TaskSpec]) -> Result<(), Refusal> {
    let what = || format!("The split of task {id}");
    if parts.len() < 2 {
        return Err(Refusal::BadValue { what: what(), why: "it needs at least two parts".into() });
    }
    let too_many = |limit: usize, got: usize| Refusal::TooLarge {
        what: "The number of tasks".into(),
        limit: limit as u64,
        got: got as u64,
    };
    if parts.len() > PARTS_MAX {
        return Err(too_many(PARTS_MAX, parts.len()));
    }
    if state.tasks.len() + parts.len() > TASKS_MAX {
        return Err(too_many(TASKS_MAX, state.tasks.len() + parts.len()));
    }
    if depth(state, parent) >= SPLIT_DEPTH_MAX {
        let why = format!("it is a part of a part; at most {SPLIT_DEPTH_MAX} levels are possible");
        return Err(Refusal::BadValue { what: what(), why });
    }
    let mut seen = BTreeSet::new();
    for spec in parts {
        if state.tasks.contains_key(&spec.id) {
            return Err(Refusal::DuplicateTask { task: spec.id.clone() });
        }
        if !seen.insert(&spec.id) {
            return Err(Refusal::BadValue { what: what(), why: format!("there are two parts {}", spec.id) });
        }
        if let Some(depends) = spec.depends.iter().find(|d| *d == id) {
            return Err(Refusal::Cycle { path: vec![depends.clone(), spec.id.clone()] });
        }
    }
    Ok(())
}

/// How many splits lie above the task.
fn depth(state: &State, task: &Task) -> usize {
    let mut depth = 0;
    let mut at = task.parent.as_ref();
    while let Some(parent) = at.and_then(|id| state.task(id)).filter(|_| depth < SPLIT_DEPTH_MAX) {
        depth += 1;
        at = parent.parent.as_ref();
    }
    depth
}

/// A chain, unless a part says what it depends on; whatever comes first waits for what the whole
/// waited for.
fn with_depends(state: &State, parent: &Task, mut parts: Vec<TaskSpec>) -> Vec<TaskSpec> {
    if parts.iter().all(|spec| spec.depends.is_empty()) {
        for at in 1..parts.len() {
            parts[at].depends = vec![parts[at - 1].id.clone()];
        }
    }
    let names: BTreeSet<TaskId> = parts.iter().map(|spec| spec.id.clone()).collect();
    for spec in &mut parts {
        if !spec.depends.iter().any(|d| names.contains(d)) {
            let more = parent.spec.depends.iter().filter(|d| !spec.depends.contains(d)).cloned();
            spec.depends.extend(more.collect::<Vec<_>>());
        }
        // Nobody else gets the files of the whole because it is done in parts.
        if spec.reserve.is_empty() && spec.share.is_empty() {
            spec.reserve.clone_from(&parent.spec.reserve);
            spec.share.clone_from(&parent.spec.share);
        }
        if spec.profile.is_none() {
            spec.profile.clone_from(&parent.spec.profile);
        }
        if spec.isolation.is_none() {
            spec.isolation.clone_from(&parent.spec.isolation);
        }
        reviewed_like(state, &parent.spec, spec);
    }
    parts
}

/// Nobody else reviews the work because it is done in parts: unless a part names somebody, itself or by a tag.
fn reviewed_like(state: &State, whole: &TaskSpec, part: &mut TaskSpec) {
    let names_reviewer = |tag: &&String| state.policy.review_tags.contains_key(*tag);
    if part.review.is_some() || part.tags.iter().any(|tag| names_reviewer(&tag)) {
        return;
    }
    part.review.clone_from(&whole.review);
    part.tags.extend(whole.tags.iter().filter(names_reviewer).cloned());
}

/// No circle, also not through the whole: its parts come before it.
fn acyclic(state: &State, parent: &TaskId, parts: &[TaskSpec]) -> Result<(), Refusal> {
    let mut edges: BTreeMap<&TaskId, &[TaskId]> =
        state.tasks.iter().map(|(id, t)| (id, t.spec.depends.as_slice())).collect();
    edges.extend(parts.iter().map(|spec| (&spec.id, spec.depends.as_slice())));
    let names = parts.iter().map(|spec| spec.id.clone()).collect();
    validate::graph_of_wholes(state, edges, Some((parent, names)))
}

/// A person goes on without the parts that are cancelled or gone.
pub(super) fn without_lost_parts(state: &State, id: &TaskId, parts: &[TaskId]) -> Option<Outcome> {
    let lost = |part: &&TaskId| is_lost(state, part);
    let left: Vec<TaskId> = parts.iter().filter(|part| !lost(part)).cloned().collect();
    if left.len() == parts.len() {
        return None;
    }
    let (answer, status) = match left.len() {
        0 => (format!("Task {id} has no parts any more and is back in the queue"), Status::Pending),
        _ => (format!("Task {id} goes on without the parts that are cancelled"), Status::Active),
    };
    let why = "without the parts that are cancelled".into();
    Some(Outcome::new(vec![Event::TaskSplit { task: id.clone(), status, parts: left, why }], answer))
}

pub(super) fn has_lost_part(state: &State, parts: &[TaskId]) -> bool {
    parts.iter().any(|part| is_lost(state, part))
}

fn is_lost(state: &State, part: &TaskId) -> bool {
    state.task(part).is_none_or(|t| matches!(t.stage, Stage::Cancelled))
}

/// The part on which a split task waits for a person, if there is one.
pub(crate) fn stuck_part<'a>(state: &State, parts: &'a [TaskId]) -> Option<&'a TaskId> {
    parts.iter().find(|part| {
        state.task(part).is_none_or(|t| match &t.stage {
            Stage::Blocked { .. }
            | Stage::Failed { .. }
            | Stage::Timeout { .. }
            | Stage::Deferred
            | Stage::Cancelled => true,
            Stage::Split { parts, .. } => stuck_part(state, parts).is_some(),
            _ => false,
        })
    })
}

pub(crate) fn parts_are_done(state: &State, parts: &[TaskId]) -> bool {
    let is_done = |part: &TaskId| state.task(part).is_some_and(|t| matches!(t.stage, Stage::Done { .. }));
    match planted::is(Bug::WholeBeforeParts) {
        true => parts.iter().any(is_done),
        false => parts.iter().all(is_done),
    }
}

/// What the parts of a task have brought to trunk, in their order.
pub(crate) fn commits_of_parts(state: &State, parts: &[TaskId]) -> Vec<Oid> {
    let proofs = parts.iter().filter_map(|part| state.task(part)?.stage.proof());
    proofs.flat_map(|proof| proof.own().iter().cloned()).collect()
}

/// All parts are done. Where trunk is known to be green with them the whole is done at once.
pub(crate) fn done_at_once(state: &State, id: &TaskId, task: &Task, parts: &[TaskId]) -> Option<Event> {
    let proofs: Vec<&Proof> = parts
        .iter()
        .filter_map(|part| match &state.task(part)?.stage {
            Stage::Done { proof } => proof.as_ref(),
            _ => None,
        })
        .collect();
    let verifies = state.policy.verifies && !task.waived.contains(&Gate::Verify);
    let green = proofs.iter().all(|proof| state.green.contains(&proof.commit));
    if verifies && !green {
        return None;
    }
    let commits = commits_of_parts(state, parts);
    let proof = proofs.last().map(|last| Proof::new(last.trunk.clone(), last.commit.clone(), commits));
    let (task, status) = (id.clone(), Status::Done);
    Some(Event::TaskStatusChanged { task, status, why: None, block: None, proof, was: None })
}

#[cfg(test)]
mod tests {
    use swarm_protocol::review::Reviewer;

    use super::*;

    fn spec(id: &str, review: Option<&str>, tags: &[&str]) -> TaskSpec {
        let mut spec = TaskSpec::new(TaskId::new(id).expect("an id"), id);
        spec.review = review.map(str::to_owned);
        spec.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        spec
    }

    #[test]
    fn parts_are_reviewed_by_whoever_was_to_review_the_whole_unless_they_name_somebody() {
        let mut state = State::default();
        state.policy.review_tags.insert("security".into(), Reviewer::Human);
        state.policy.review_tags.insert("docs".into(), Reviewer::None);
        let by_task = spec("a", Some("human"), &["ui"]);
        let by_tag = spec("a", None, &["ui", "security"]);
        for (whole, part, wanted) in [
            (&by_task, spec("x", None, &["small"]), spec("x", Some("human"), &["small"])),
            (&by_task, spec("x", Some("command"), &[]), spec("x", Some("command"), &[])),
            (&by_task, spec("x", None, &["docs"]), spec("x", None, &["docs"])),
            (&by_tag, spec("x", None, &["small"]), spec("x", None, &["small", "security"])),
            (&by_tag, spec("x", None, &["security"]), spec("x", None, &["security"])),
        ] {
            let mut reviewed = part.clone();
            reviewed_like(&state, whole, &mut reviewed);
            assert_eq!(reviewed, wanted, "{part:?}");
        }
    }
}
