//! The plan as a whole: reset, approved, its phases completed, closed.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Checkpoint, FactChange, Left, SavedStage};
use swarm_protocol::outcome::{Next, PauseReason};
use swarm_protocol::plan::{Extra, PhaseHead, Status};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::task;
use crate::operation::{Record, facts, restore, saved};
use crate::state::{State, Task};

/// The format of the ledger that this version writes.
pub const LEDGER_FORMAT: u32 = 1;

/// The first event of a ledger. Its id is random and so not the core's to choose: the store fills it in.
pub(super) fn created(goal: String, phase: u32, phases: Vec<PhaseHead>, extra: Extra) -> Event {
    Event::PlanCreated { phase, ledger_id: String::new(), format: LEDGER_FORMAT, goal, phases, extra }
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
    let mut answer = match state.tasks.len() {
        1 => "Plan reset: 1 task is pending".to_owned(),
        many => format!("Plan reset: {many} tasks are pending"),
    };
    match events.len() {
        0 => {}
        1 => answer += ", 1 agent is stopped",
        many => answer += &format!(", {many} agents are stopped"),
    }
    events.push(Event::PlanReset {});
    Ok(Outcome::new(events, answer))
}

/// A reset takes the tasks from their agents, as `agent stop` does: a refusal would leave a locked
/// profile without a way out while anything runs.
pub(super) fn agents_stopped(state: &State) -> Vec<Event> {
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
    let open: Vec<(&TaskId, &Task)> = state.tasks.iter().filter(|(_, t)| !t.stage.is_closed()).collect();
    let mut events: Vec<Event> = open
        .iter()
        .map(|(id, task)| {
            let was = saved::stage(task);
            Event::TaskStatusChanged {
                task: (*id).clone(),
                status: Status::Cancelled,
                why: Some(format!("the plan was closed; it was {}", was.word())),
                block: None,
                proof: None,
                was: Some(was),
            }
        })
        .collect();
    let with = match open.len() {
        0 => String::new(),
        1 => " with 1 open task".into(),
        n => format!(" with {n} open tasks"),
    };
    let answer =
        format!("Plan closed{with}; its ledger is archived as {archive}; `swarm plan reopen` reopens it");
    events.push(Event::PlanClosed { archive });
    Ok(Outcome::new(events, answer))
}

/// The checkpoint with everything that is unfinished, made before a plan is closed. Its name is like no other,
/// since the next plan does not know of it.
pub fn checkpoint_of_close(archive: &str) -> String {
    format!("before-close{}", archive.strip_prefix("plan").unwrap_or(archive))
}

/// The close that a reopening takes back.
pub(super) fn last_close(state: &State) -> Option<&Record> {
    state.ops.log.iter().rev().find(|record| record.kind == "close" && record.undone_by.is_none())
}

/// A closed plan goes on: its open tasks are what they were, and their worktrees come back out of the checkpoint
/// that was made before the close.
pub(super) fn reopen(state: &State) -> Result<Outcome, Refusal> {
    let plan = state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    if !plan.closed {
        return Err(Refusal::NothingToChange { what: "The plan is open already".into() });
    }
    let archive = last_close(state).and_then(|record| record.subject.clone()).unwrap_or_default();
    let mut events = vec![Event::PlanReopened { archive: archive.clone() }];
    let open: Vec<(&TaskId, &SavedStage)> =
        state.tasks.iter().filter_map(|(id, task)| Some((id, task.was.as_ref()?))).collect();
    events.extend(open.iter().map(|(id, was)| Event::TaskRestored {
        task: (*id).clone(),
        status: was.status(),
        why: "the plan was reopened".into(),
        stage: Some((*was).clone()),
        waived: None,
        saved: None,
    }));
    events.extend(open.iter().flat_map(|(id, _)| restore::messages_again(state, id)));
    // What was held for the closing goes on.
    let held = state.paused.contains_key(&PauseReason::Close);
    events.extend(held.then_some(Event::Resumed { reason: PauseReason::Close }));
    let checkpoint = state.ops.checkpoints.get(&checkpoint_of_close(&archive));
    let facts: Vec<FactChange> =
        open.iter().filter_map(|(id, _)| left_at_close(state, id, checkpoint?)).collect();
    events.extend((!facts.is_empty()).then_some(Event::FactsSet { facts }));
    let answer = match open.len() {
        0 => format!("Plan reopened from {archive}"),
        1 => "Plan reopened with 1 open task".to_string(),
        n => format!("Plan reopened with {n} open tasks"),
    };
    Ok(Outcome::new(events, answer))
}

/// What lay in the worktree of a task, as the fact that brings it back.
fn left_at_close(state: &State, id: &TaskId, checkpoint: &Checkpoint) -> Option<FactChange> {
    let task = state.task(id).filter(|task| task.worktree)?;
    let (tip, dirty) = (checkpoint.tips.get(id)?.clone(), checkpoint.dirty.get(id).cloned());
    let base = task.base.clone().unwrap_or_else(|| tip.clone());
    Some(facts::left(id, None, Some(&Left { base, tip, dirty })))
}
