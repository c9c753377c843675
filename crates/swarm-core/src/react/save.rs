//! A plan file made the plan: what it adds, changes, moves and leaves out.

mod statuses;

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::command::SaveKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{Extra, PhaseFile, PhaseHead, PlanFile, TaskFile, TaskSpec};
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::plan::{agents_stopped, created};
use super::{edit, profile, task, validate};
use crate::limits::{GOAL_MAX, PHASES_MAX, TASKS_MAX};
use crate::stage::Stage;
use crate::state::State;
use crate::structure::patch_between;

pub(super) fn save(
    state: &State,
    file: PlanFile,
    kind: SaveKind,
    source: String,
    reset_statuses: bool,
) -> Result<Outcome, Refusal> {
    if kind == SaveKind::Migrate && state.plan.is_some() {
        return Err(Refusal::PlanExists);
    }
    if let Some(profile) = &file.execution_profile {
        if !reset_statuses && state.plan.as_ref().is_some_and(|p| p.profile.locked) {
            return Err(Refusal::ProfileLocked);
        }
        validate::profile(profile)?;
    }
    check_file(state, &file)?;
    if !reset_statuses {
        done_stays(state, &file)?;
    }
    let cancelled = stays_cancelled(state, &file);
    let mut events = Vec::new();
    if reset_statuses && state.plan.is_some() {
        events.extend(agents_stopped(state));
        events.push(Event::PlanReset {});
    }
    let profile = file.execution_profile;
    let statuses = if kind == SaveKind::Save { vec![] } else { statuses::of(&file) };
    let kept = statuses::not_taken(state, &statuses);
    let count = file.phases.iter().map(|p| p.tasks.len()).sum::<usize>();
    let changes = diff(state, file, &mut events);
    if let Some(profile) = profile
        && state.plan.as_ref().is_none_or(|p| p.profile != profile || reset_statuses)
    {
        events.extend(profile::events(profile));
    }
    events.extend(statuses.into_iter().filter(|event| statuses::is_taken(state, event)));
    if kind == SaveKind::Import {
        events.push(Event::PlanRebuilt { source, tasks: count as u64 });
    }
    let mut answer =
        if events.is_empty() { "The plan already matches the file".into() } else { changes.describe() };
    if let Some(ids) = cancelled.filter(|_| !reset_statuses) {
        answer += &format!("; still cancelled: {ids} (`swarm op log` names the operation to undo)");
    }
    if let Some(ids) = kept {
        answer += &format!("; not taken over is the status of {ids} (only that of a pending task is)");
    }
    Ok(Outcome::new(events, answer))
}

/// What is done was done under the title that the task had: other work under its id would be called done as well.
fn done_stays(state: &State, file: &PlanFile) -> Result<(), Refusal> {
    for task in file.phases.iter().flat_map(|phase| &phase.tasks) {
        let done = state.task(&task.id).filter(|old| matches!(old.stage, Stage::Done { .. }));
        let Some(old) = done.map(|old| &old.spec) else { continue };
        if old.title != task.title {
            let what = format!("The title of task {}", task.id);
            let why = format!("the task is done as {:?}; give new work an id of its own", old.title);
            return Err(Refusal::BadValue { what, why });
        }
    }
    Ok(())
}

/// Tasks that the file names and that are cancelled: nobody works on them, whatever the file says.
fn stays_cancelled(state: &State, file: &PlanFile) -> Option<String> {
    let cancelled = |id: &&TaskId| state.task(id).is_some_and(|t| matches!(t.stage, Stage::Cancelled));
    let tasks = file.phases.iter().flat_map(|phase| &phase.tasks).map(|task| &task.id);
    let ids: Vec<&str> = tasks.filter(cancelled).map(TaskId::as_str).collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

fn check_file(state: &State, file: &PlanFile) -> Result<(), Refusal> {
    let too_large = |what: &str, limit: usize, got: usize| {
        Err(Refusal::TooLarge { what: what.into(), limit: limit as u64, got: got as u64 })
    };
    if file.goal.len() > GOAL_MAX {
        return too_large("The goal in bytes", GOAL_MAX, file.goal.len());
    }
    if file.phases.len() > PHASES_MAX {
        return too_large("The number of phases", PHASES_MAX, file.phases.len());
    }
    let mut phases = BTreeSet::new();
    for phase in &file.phases {
        if phase.id == 0 || !phases.insert(phase.id) {
            let why = if phase.id == 0 { "phases are numbered from 1" } else { "there are two of it" };
            return Err(Refusal::BadValue { what: format!("Phase {}", phase.id), why: why.into() });
        }
    }
    let tasks: Vec<&TaskFile> = file.phases.iter().flat_map(|p| &p.tasks).collect();
    if tasks.len() > TASKS_MAX {
        return too_large("The number of tasks", TASKS_MAX, tasks.len());
    }
    let stay = parts_that_stay(state, &tasks.iter().map(|task| task.id.clone()).collect());
    let mut edges: BTreeMap<&TaskId, &[TaskId]> = BTreeMap::new();
    for task in &tasks {
        validate::spec(&TaskSpec::from((*task).clone()))?;
        if edges.insert(&task.id, &task.depends).is_some() {
            return Err(Refusal::DuplicateTask { task: task.id.clone() });
        }
    }
    validate::graph_of_wholes(state, edges.clone(), None)?;
    if stay.is_empty() {
        return Ok(());
    }
    edges.extend(stay.iter().map(|(id, depends)| (id, depends.as_slice())));
    validate::graph_of_wholes(state, edges, None)
}

/// Parts that the file does not name and that stay all the same, with what they wait for: a circle through them would
/// wait for ever as well.
fn parts_that_stay(state: &State, named: &BTreeSet<TaskId>) -> BTreeMap<TaskId, Vec<TaskId>> {
    let stay = with_parts(state, named);
    let open = |id: &TaskId| state.task(id).is_some_and(|task| !task.stage.is_closed());
    let waits_for = |id: &TaskId| -> Vec<TaskId> {
        let depends = state.task(id).into_iter().flat_map(|task| &task.spec.depends);
        depends.filter(|id| named.contains(*id) || (stay.contains(*id) && open(id))).cloned().collect()
    };
    let parts = stay.iter().filter(|id| !named.contains(*id) && open(id));
    parts.map(|id| (id.clone(), waits_for(id))).collect()
}

/// What a save did, counted.
#[derive(Default)]
struct Changes {
    created: bool,
    added: usize,
    changed: usize,
    moved: usize,
    removed: usize,
    cancelled: usize,
}

impl Changes {
    fn describe(&self) -> String {
        let counts = [
            (self.added, "added"),
            (self.changed, "changed"),
            (self.moved, "moved"),
            (self.removed, "removed"),
            (self.cancelled, "cancelled"),
        ];
        let parts: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, w)| format!("{n} {w}")).collect();
        match (self.created, parts.is_empty()) {
            (true, _) if self.added == 1 => "Plan saved: 1 task".into(),
            (true, _) => format!("Plan saved: {} tasks", self.added),
            (false, true) => "Plan saved".into(),
            (false, false) => format!("Plan saved: {}", parts.join(", ")),
        }
    }
}

/// Events that make the plan what the file says.
fn diff(state: &State, file: PlanFile, events: &mut Vec<Event>) -> Changes {
    let PlanFile { goal, phases, extra, .. } = file;
    let mut changes = Changes { created: state.plan.is_none(), ..Changes::default() };
    let heads: Vec<PhaseHead> =
        phases.iter().map(|p| PhaseHead { id: p.id, name: p.name.clone(), extra: p.extra.clone() }).collect();
    events.extend(header(state, goal, heads, extra));
    let wanted: BTreeSet<TaskId> = phases.iter().flat_map(|p| p.tasks.iter().map(|t| t.id.clone())).collect();
    // Changed members come last: a dependency may be added by the same file.
    let mut late = Vec::new();
    for phase in phases {
        phase_changes(state, phase, &wanted, &mut changes, events, &mut late);
    }
    events.extend(late);
    left_out(state, &wanted, &mut changes, events);
    changes
}

fn header(state: &State, goal: String, phases: Vec<PhaseHead>, extra: Extra) -> Option<Event> {
    let Some(plan) = &state.plan else {
        let first = phases.first().map_or(1, |p| p.id);
        return Some(created(goal, first, phases, extra));
    };
    let same_phases = plan.phases.len() == phases.len()
        && plan
            .phases
            .iter()
            .zip(&phases)
            .all(|(p, h)| p.id == h.id && p.name == h.name && p.extra == h.extra);
    let same = same_phases && plan.goal == goal && plan.extra == extra;
    (!same).then_some(Event::PlanUpdated { goal, phases, extra })
}

/// Tasks of one phase: added, changed, moved to where the file has them.
fn phase_changes(
    state: &State,
    phase: PhaseFile,
    wanted: &BTreeSet<TaskId>,
    changes: &mut Changes,
    events: &mut Vec<Event>,
    late: &mut Vec<Event>,
) {
    let mut order: Vec<TaskId> = state.phase(phase.id).map(|p| p.tasks.clone()).unwrap_or_default();
    order.retain(|id| wanted.contains(id));
    let mut after: Option<TaskId> = None;
    for (place, file) in phase.tasks.into_iter().enumerate() {
        let spec = TaskSpec::from(file);
        let id = spec.id.clone();
        let moved = match state.task(&id) {
            None => {
                changes.added += 1;
                order.insert(place.min(order.len()), id.clone());
                events.push(Event::TaskAdded { task: id.clone(), phase: phase.id, after, spec });
                None
            }
            Some(old) => {
                let patch = patch_between(&old.spec, &spec);
                if !patch.is_empty() {
                    changes.changed += 1;
                    late.push(Event::TaskUpdated { task: id.clone(), patch });
                }
                let elsewhere = old.phase != phase.id || order.get(place) != Some(&id);
                elsewhere.then(|| Event::TaskReordered { task: id.clone(), after, phase: phase.id })
            }
        };
        if let Some(moved) = moved {
            changes.moved += 1;
            order.retain(|t| *t != id);
            order.insert(place.min(order.len()), id.clone());
            events.push(moved);
        }
        after = Some(id);
    }
}

/// Tasks that the file does not name any more: removed where nothing would be lost, else cancelled.
fn left_out(state: &State, named: &BTreeSet<TaskId>, changes: &mut Changes, events: &mut Vec<Event>) {
    let wanted = &with_parts(state, named);
    let removed = removed(state, named, wanted);
    for (id, old) in state.tasks.iter().filter(|(id, _)| !wanted.contains(*id)) {
        if removed.contains(id) {
            changes.removed += 1;
            events.push(Event::TaskRemoved { task: id.clone() });
        } else if !old.stage.is_closed() {
            changes.cancelled += 1;
            if let Ok(cancelled) = task::cancel(state, id.clone()) {
                events.extend(cancelled.events);
            }
        }
    }
}

/// A file that was written before a task was split knows nothing of its parts; one that names some of them means the others.
fn with_parts(state: &State, wanted: &BTreeSet<TaskId>) -> BTreeSet<TaskId> {
    let (mut all, mut next) = (wanted.clone(), wanted.iter().cloned().collect::<Vec<_>>());
    while let Some(id) = next.pop() {
        // What the file adds is no task yet.
        let Some(task) = state.task(&id) else { continue };
        if !task.parts.iter().any(|part| wanted.contains(part)) {
            all.extend(task.parts.iter().cloned());
            next.extend(task.parts.iter().cloned());
        }
    }
    all
}

/// Tasks that the file leaves out and that can go without a trace. One that a task with a history
/// depends on stays, cancelled like that task, and so does one that a part depends on which the file does not know:
/// no dependency may point to nothing.
fn removed(state: &State, named: &BTreeSet<TaskId>, wanted: &BTreeSet<TaskId>) -> BTreeSet<TaskId> {
    let mut removed: BTreeSet<TaskId> = state
        .tasks
        .iter()
        .filter(|(id, old)| !wanted.contains(*id) && edit::removable(state, id, old))
        .map(|(id, _)| id.clone())
        .collect();
    loop {
        let needed: Vec<TaskId> = state
            .tasks
            .iter()
            .filter(|(id, _)| !named.contains(*id) && !removed.contains(*id))
            .flat_map(|(_, kept)| kept.spec.depends.iter().filter(|d| removed.contains(*d)).cloned())
            .collect();
        if needed.is_empty() {
            return removed;
        }
        removed.retain(|id| !needed.contains(id));
    }
}
