//! The plan as a whole: saved, imported, reset, approved, its phases completed, closed.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::command::SaveKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Extra, PhaseHead, PlanFile, Status, TaskFile, TaskPatch, TaskSpec};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::{profile, task, validate};
use crate::limits::{GOAL_MAX, PHASES_MAX, TASKS_MAX};
use crate::state::State;

/// The format of the ledger that this version writes.
pub const LEDGER_FORMAT: u32 = 1;

/// The first event of a ledger. Its id is random and so not the core's to choose: the store fills it in.
pub(super) fn created(goal: String, phase: u32, phases: Vec<PhaseHead>, extra: Extra) -> Event {
    Event::PlanCreated { phase, ledger_id: String::new(), format: LEDGER_FORMAT, goal, phases, extra }
}

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
    check_file(&file)?;
    let mut events = Vec::new();
    if reset_statuses && state.plan.is_some() {
        events.extend(agents_stopped(state));
        events.push(Event::PlanReset {});
    }
    let profile = file.execution_profile;
    let statuses = if kind == SaveKind::Save { vec![] } else { statuses(&file) };
    let count = file.phases.iter().map(|p| p.tasks.len()).sum::<usize>();
    let changes = diff(state, file, &mut events);
    if let Some(profile) = profile
        && state.plan.as_ref().is_none_or(|p| p.profile != profile || reset_statuses)
    {
        events.extend(profile::events(profile));
    }
    events.extend(statuses.into_iter().filter(|event| changes_status(state, event)));
    if kind == SaveKind::Import {
        events.push(Event::PlanRebuilt { source, tasks: count as u64 });
    }
    let answer =
        if events.is_empty() { "The plan is as the file says already".into() } else { changes.words() };
    Ok(Outcome::new(events, answer))
}

fn check_file(file: &PlanFile) -> Result<(), Refusal> {
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
    let mut edges: BTreeMap<&TaskId, &[TaskId]> = BTreeMap::new();
    for task in &tasks {
        validate::spec(&TaskSpec::from((*task).clone()))?;
        if edges.insert(&task.id, &task.depends).is_some() {
            return Err(Refusal::DuplicateTask { task: task.id.clone() });
        }
    }
    validate::graph(&edges)
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
    fn words(&self) -> String {
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
            (true, _) => format!("Plan saved: {} tasks", self.added),
            (false, true) => "Plan saved".into(),
            (false, false) => format!("Plan saved: {}", parts.join(", ")),
        }
    }
}

/// Events that make the plan what the file says.
fn diff(state: &State, file: PlanFile, events: &mut Vec<Event>) -> Changes {
    let heads: Vec<PhaseHead> = file
        .phases
        .iter()
        .map(|p| PhaseHead { id: p.id, name: p.name.clone(), extra: p.extra.clone() })
        .collect();
    let mut changes = Changes { created: state.plan.is_none(), ..Changes::default() };
    match &state.plan {
        None => {
            let first = heads.first().map_or(1, |p| p.id);
            events.push(created(file.goal, first, heads, file.extra));
        }
        Some(plan) => {
            let same = plan.goal == file.goal
                && plan.extra == file.extra
                && plan.phases.len() == heads.len()
                && plan
                    .phases
                    .iter()
                    .zip(&heads)
                    .all(|(p, h)| p.id == h.id && p.name == h.name && p.extra == h.extra);
            if !same {
                events.push(Event::PlanUpdated { goal: file.goal, phases: heads, extra: file.extra });
            }
        }
    }
    let wanted: BTreeSet<TaskId> =
        file.phases.iter().flat_map(|p| p.tasks.iter().map(|t| t.id.clone())).collect();
    let mut late = Vec::new();
    for phase in file.phases {
        let mut order: Vec<TaskId> = state.phase(phase.id).map(|p| p.tasks.clone()).unwrap_or_default();
        order.retain(|id| wanted.contains(id));
        let mut last: Option<TaskId> = None;
        for (place, file) in phase.tasks.into_iter().enumerate() {
            let spec = TaskSpec::from(file);
            let id = spec.id.clone();
            match state.task(&id) {
                None => {
                    changes.added += 1;
                    order.insert(place.min(order.len()), id.clone());
                    // Its dependencies may stand later in the file.
                    events.push(Event::TaskAdded {
                        task: id.clone(),
                        phase: phase.id,
                        after: last.clone(),
                        spec,
                    });
                }
                Some(old) => {
                    let patch = patch_between(&old.spec, &spec);
                    if !patch.is_empty() {
                        changes.changed += 1;
                        late.push(Event::TaskUpdated { task: id.clone(), patch });
                    }
                    if old.phase != phase.id || order.get(place) != Some(&id) {
                        changes.moved += 1;
                        order.retain(|t| *t != id);
                        order.insert(place.min(order.len()), id.clone());
                        events.push(Event::TaskReordered {
                            task: id.clone(),
                            after: last.clone(),
                            phase: phase.id,
                        });
                    }
                }
            }
            last = Some(id);
        }
    }
    events.extend(late);
    let removed = removed(state, &wanted);
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
    changes
}

/// Tasks that the file leaves out and that can go without a trace. One that a task with a history
/// depends on stays, cancelled like that task: no dependency may point to nothing.
fn removed(state: &State, wanted: &BTreeSet<TaskId>) -> BTreeSet<TaskId> {
    let mut removed: BTreeSet<TaskId> = state
        .tasks
        .iter()
        .filter(|(id, old)| !wanted.contains(*id) && task::removable(state, id, old))
        .map(|(id, _)| id.clone())
        .collect();
    loop {
        let needed: Vec<TaskId> = state
            .tasks
            .iter()
            .filter(|(id, _)| !wanted.contains(*id) && !removed.contains(*id))
            .flat_map(|(_, kept)| kept.spec.depends.iter().filter(|d| removed.contains(*d)).cloned())
            .collect();
        if needed.is_empty() {
            return removed;
        }
        removed.retain(|id| !needed.contains(id));
    }
}

fn patch_between(old: &TaskSpec, new: &TaskSpec) -> TaskPatch {
    fn changed<T: PartialEq + Clone>(old: &T, new: &T) -> Option<T> {
        (old != new).then(|| new.clone())
    }
    TaskPatch {
        title: changed(&old.title, &new.title),
        description: changed(&old.description, &new.description),
        depends: changed(&old.depends, &new.depends),
        acceptance: changed(&old.acceptance, &new.acceptance),
        files: changed(&old.files, &new.files),
        tags: changed(&old.tags, &new.tags),
        size: new.size.filter(|_| old.size != new.size),
        priority: new.priority.filter(|_| old.priority != new.priority),
        profile: new.profile.clone().filter(|_| old.profile != new.profile),
        isolation: new.isolation.clone().filter(|_| old.isolation != new.isolation),
        review: new.review.clone().filter(|_| old.review != new.review),
        extra: changed(&old.extra, &new.extra),
    }
}

/// Statuses that an import takes over; what was under way elsewhere starts anew here.
fn statuses(file: &PlanFile) -> Vec<Event> {
    let tasks = file.phases.iter().flat_map(|p| &p.tasks);
    tasks
        .filter_map(|task| {
            let status = task.status?;
            let taken =
                matches!(status, Status::Done | Status::Blocked | Status::Deferred | Status::Cancelled);
            taken.then(|| Event::TaskStatusChanged {
                task: task.id.clone(),
                status,
                why: Some("imported".into()),
                block: (status == Status::Blocked).then_some(BlockKind::Human),
                proof: None,
            })
        })
        .collect()
}

/// An import never takes a status away from work that is under way or done here.
fn changes_status(state: &State, event: &Event) -> bool {
    let Event::TaskStatusChanged { task, status, .. } = event else { return true };
    state.task(task).is_none_or(|t| t.stage.status() == Status::Pending && *status != Status::Pending)
}

fn no_agents(state: &State) -> Result<(), Refusal> {
    let mut tasks: Vec<TaskId> = state.runs.values().map(|r| r.task.clone()).collect();
    tasks.extend(state.trunk_held_by.clone());
    tasks.dedup();
    if tasks.is_empty() { Ok(()) } else { Err(Refusal::AgentsRunning { tasks }) }
}

pub(super) fn reset(state: &State) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let mut events = agents_stopped(state);
    let mut answer = format!("Plan reset: {} tasks are pending", state.tasks.len());
    if !events.is_empty() {
        answer += &format!(", {} agents are stopped", events.len());
    }
    events.push(Event::PlanReset {});
    Ok(Outcome::new(events, answer))
}

/// A reset takes the tasks from their agents, as `agent stop` does: a refusal would leave a locked
/// profile without a way out while anything runs.
fn agents_stopped(state: &State) -> Vec<Event> {
    let next = Next::Pending { not_before: Timestamp::ZERO, counts: false };
    let at_work = state.tasks.iter().filter(|(_, task)| task.stage.run().is_some());
    at_work.map(|(id, old)| task::leave(state, id, old, next.clone(), "the plan was reset")).collect()
}

pub(super) fn approve(state: &State) -> Result<Outcome, Refusal> {
    let plan = state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let structure_hash = crate::hash::structure_hash(state);
    if plan.approved.as_ref().is_some_and(|a| a.structure_hash == structure_hash) {
        return Err(Refusal::NothingToChange { what: "The plan is approved already".into() });
    }
    let answer = format!("Plan approved: {}", &structure_hash[..12]);
    Ok(Outcome::new(vec![Event::PlanApproved { structure_hash }], answer))
}

pub(super) fn exported(state: &State, path: String) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let answer = format!("Plan exported to {path}");
    Ok(Outcome::new(vec![Event::PlanExported { path }], answer))
}

pub(super) fn complete_phase(state: &State, id: u32) -> Result<Outcome, Refusal> {
    let plan = state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let Some(phase) = state.phase(id) else {
        let known = plan.phases.iter().map(|p| p.id).collect();
        return Err(Refusal::UnknownPhase { phase: id, known });
    };
    if phase.complete {
        return Err(Refusal::PhaseAlreadyComplete { phase: id });
    }
    let open: Vec<TaskId> =
        phase.tasks.iter().filter(|t| state.task(t).is_some_and(|t| !t.stage.is_closed())).cloned().collect();
    if !open.is_empty() {
        return Err(Refusal::PhaseOpen { phase: id, open });
    }
    Ok(Outcome::new(vec![Event::PhaseCompleted { phase: id }], format!("Phase {id} is complete")))
}

pub(super) fn close(state: &State, archive: String) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    no_agents(state)?;
    let open: Vec<TaskId> =
        state.tasks.iter().filter(|(_, t)| !t.stage.is_closed()).map(|(id, _)| id.clone()).collect();
    let mut events: Vec<Event> = open
        .iter()
        .map(|id| Event::TaskStatusChanged {
            task: id.clone(),
            status: Status::Cancelled,
            why: Some("the plan was closed".into()),
            block: None,
            proof: None,
        })
        .collect();
    let answer = match open.len() {
        0 => format!("Plan closed; its ledger is archived as {archive}"),
        n => format!("Plan closed, {n} open tasks cancelled; its ledger is archived as {archive}"),
    };
    events.push(Event::PlanClosed { archive });
    Ok(Outcome::new(events, answer))
}
