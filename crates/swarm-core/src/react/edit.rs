//! What people do with the plan's structure: tasks are added, edited, removed, moved.

use std::collections::BTreeMap;

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{BlockKind, TaskPatch, TaskSpec};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::Reviewer;

use super::command::Outcome;
use super::task::wrong;
use super::validate;
use crate::limits::TASKS_MAX;
use crate::reservations::{shares_the_tree, wants_the_shared_tree};
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::{State, Task};

pub(super) fn add(
    state: &State,
    phase: Option<u32>,
    after: Option<TaskId>,
    spec: TaskSpec,
) -> Result<Outcome, Refusal> {
    let id = spec.id.clone();
    if state.tasks.contains_key(&id) {
        return Err(Refusal::DuplicateTask { task: id });
    }
    if state.tasks.len() >= TASKS_MAX {
        let what = "The number of tasks".into();
        return Err(Refusal::TooLarge { what, limit: TASKS_MAX as u64, got: TASKS_MAX as u64 + 1 });
    }
    validate::spec(&spec)?;
    depends_exist(state, &id, &spec.depends)?;
    let mut events = vec![];
    if state.plan.is_none() {
        events.push(super::plan::created(String::new(), phase.unwrap_or(1), vec![], Default::default()));
    }
    let (phase, after) = place(state, phase, after)?;
    let answer = format!("Task {id} added to phase {phase}");
    events.push(Event::TaskAdded { task: id, phase, after, spec });
    Ok(Outcome::new(events, answer))
}

/// The phase and the neighbour: behind the last task of the last phase when nothing is said.
fn place(state: &State, phase: Option<u32>, after: Option<TaskId>) -> Result<(u32, Option<TaskId>), Refusal> {
    if let Some(after) = after {
        let at = validate::known(state, &after)?.phase;
        return match phase {
            Some(p) if p != at => {
                let what = format!("Phase {p}");
                Err(Refusal::BadValue { what, why: format!("task {after} is in phase {at}") })
            }
            _ => Ok((at, Some(after))),
        };
    }
    let Some(plan) = &state.plan else { return Ok((phase.unwrap_or(1), None)) };
    let known: Vec<u32> = plan.phases.iter().map(|p| p.id).collect();
    let phase = match phase {
        Some(0) => return Err(Refusal::UnknownPhase { phase: 0, known }),
        // One more phase than there are may be begun by its first task.
        Some(p) if !known.contains(&p) && p > known.iter().copied().max().unwrap_or(0) + 1 => {
            return Err(Refusal::UnknownPhase { phase: p, known });
        }
        Some(p) => p,
        None => known.last().copied().unwrap_or(1),
    };
    Ok((phase, state.phase(phase).and_then(|p| p.tasks.last().cloned())))
}

fn depends_exist(state: &State, id: &TaskId, depends: &[TaskId]) -> Result<(), Refusal> {
    if depends.contains(id) {
        return Err(Refusal::Cycle { path: vec![id.clone()] });
    }
    match depends.iter().find(|d| !state.tasks.contains_key(*d)) {
        Some(missing) => Err(Refusal::UnknownDependency {
            task: id.clone(),
            depends: missing.to_string(),
            near: crate::structure::nearest(missing.as_str(), state.tasks.keys()),
        }),
        None => Ok(()),
    }
}

pub(super) fn edit(state: &State, id: TaskId, patch: TaskPatch) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    if task.stage.is_closed() {
        return Err(wrong(state, &id, task, "edited"));
    }
    let mut spec = task.spec.clone();
    crate::structure::patch_spec(&mut spec, &patch);
    if spec == task.spec {
        return Err(Refusal::NothingToChange { what: format!("Task {id}") });
    }
    validate::spec(&spec)?;
    if spec.depends != task.spec.depends {
        depends_exist(state, &id, &spec.depends)?;
        let mut edges: BTreeMap<&TaskId, &[TaskId]> =
            state.tasks.iter().map(|(id, t)| (id, t.spec.depends.as_slice())).collect();
        edges.insert(&id, &spec.depends);
        validate::graph_of_wholes(state, edges, None)?;
    }
    if let Stage::Review { tip, tree, .. } = &task.stage {
        let edited = Task { spec: spec.clone(), ..task.clone() };
        if reviewer(state, &edited) == Reviewer::None {
            let approved = super::review::approved(id.clone(), tip.clone(), tree.clone(), "none");
            let answer = format!("Task {id} changed: nobody reviews it, so it waits for its turn to merge");
            return Ok(Outcome::new(vec![Event::TaskUpdated { task: id, patch }, approved], answer));
        }
    }
    let may_be_empty_now = patch.allow_empty == Some(true)
        && matches!(task.stage, Stage::Blocked { block: BlockKind::Empty, .. });
    let edited = Task { spec, ..task.clone() };
    let moves = wants_the_shared_tree(state, &edited) != shares_the_tree(state, task);
    let answer = match may_be_empty_now {
        true => format!("Task {id} changed; `swarm task unblock {id}` lets it go on"),
        // Nobody is taken out of the tree that they work in.
        false if moves && task.stage.run().is_some() => {
            format!("Task {id} changed; the new isolation takes effect at the next attempt")
        }
        false => format!("Task {id} changed"),
    };
    Ok(Outcome::new(vec![Event::TaskUpdated { task: id, patch }], answer))
}

pub(super) fn remove(state: &State, id: TaskId) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    let by = state.dependents(&id);
    if !by.is_empty() {
        return Err(Refusal::TaskInUse { task: id, by });
    }
    if !removable(state, &id, task) {
        return Err(wrong(state, &id, task, "removed, since it was worked on"));
    }
    Ok(Outcome::new(vec![Event::TaskRemoved { task: id.clone() }], format!("Task {id} removed")))
}

/// Only what never was worked on can go without a trace in the plan.
pub(super) fn removable(state: &State, id: &TaskId, task: &Task) -> bool {
    let idle = matches!(
        task.stage,
        Stage::Pending { .. } | Stage::Blocked { .. } | Stage::Deferred | Stage::Cancelled
    );
    idle && task.attempts == 0 && !task.worktree && task.parts.is_empty() && !state.has_run(id)
}

pub(super) fn reorder(
    state: &State,
    id: TaskId,
    after: Option<TaskId>,
    phase: Option<u32>,
) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    if after.as_ref() == Some(&id) {
        return Err(Refusal::BadValue {
            what: format!("The place of task {id}"),
            why: "it cannot be moved after itself".into(),
        });
    }
    let phase = match (&after, phase) {
        (None, None) => Some(task.phase),
        (_, phase) => phase,
    };
    let (phase, after) = match after {
        Some(_) => place(state, phase, after)?,
        None => (place(state, phase, None)?.0, None),
    };
    let old = state.phase(task.phase).map(|p| p.tasks.as_slice()).unwrap_or_default();
    let at = old.iter().position(|t| *t == id);
    let before = at.and_then(|i| i.checked_sub(1)).map(|i| old[i].clone());
    if phase == task.phase && before == after {
        return Err(Refusal::NothingToChange { what: format!("The place of task {id}") });
    }
    let answer = match &after {
        Some(after) => format!("Task {id} moved after {after}"),
        None => format!("Task {id} moved to the start of phase {phase}"),
    };
    Ok(Outcome::new(vec![Event::TaskReordered { task: id, after, phase }], answer))
}
