//! What may be spent, by a task and by the swarm: when it is, a person is asked and nothing is killed.

use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::{Next, PauseReason};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::policy::Allowance;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::validate;
use super::work::Live;
use crate::stage::Stage;
use crate::state::{Spent, State, Task};

/// What of the task's budget is used up, in words.
pub(crate) fn task_is_spent(state: &State, task: &Task) -> Option<String> {
    task.spent.since(task.spent_before).uses_up(state.policy.task_budget)
}

fn swarm_is_spent(state: &State) -> Option<String> {
    state.spent.since(state.spent_before).uses_up(state.policy.budget)
}

/// The iteration that passes the task's bound is its last; what it did is kept.
pub(super) fn stops(state: &State, l: &Live<'_>, usage: Usage, now: Timestamp) -> Option<Event> {
    let worked_ms = l.record.busy_since.map_or(0, |since| now.0.saturating_sub(since.0));
    let spent = l.task.spent.plus(Spent { worked_ms, ..Spent::of(usage) });
    let used = spent.since(l.task.spent_before).uses_up(state.policy.task_budget)?;
    Some(Event::AgentStopped {
        task: l.id.clone(),
        status: Status::Blocked,
        run: l.run.clone(),
        agent: l.agent.clone(),
        why: format!("its budget is spent: {used}"),
        next: blocked(used),
        goes_on: Some(true),
    })
}

fn blocked(used: String) -> Next {
    Next::Blocked { block: BlockKind::Budget, why: format!("its budget is spent: {used}") }
}

/// A task that would be started, but has nothing left to spend, or came to nothing too often.
pub(crate) fn instead_of_start(state: &State, id: &TaskId) -> Option<Event> {
    let task = state.task(id)?;
    if let Some(used) = task_is_spent(state, task) {
        return Some(super::intervene::broken_off(state, id, task, blocked(used), "its budget is spent"));
    }
    let next = crate::claims::too_many(state, task)?;
    Some(super::task::leave(state, id, task, next, "too many starts without progress"))
}

/// The swarm's own budget, after every decision.
pub(crate) fn pauses(state: &State) -> Option<Event> {
    let reason = PauseReason::Budget;
    let spent = if state.policy.budget == Allowance::default() { None } else { swarm_is_spent(state) };
    match (spent, state.paused.contains_key(&reason)) {
        (Some(used), false) => Some(Event::Paused { reason, why: format!("spent {used}") }),
        // Extended, or configured anew.
        (None, true) => Some(Event::Resumed { reason }),
        _ => None,
    }
}

/// As much again may be spent, on top of what is spent now.
pub(super) fn extend(state: &State, id: Option<TaskId>) -> Result<Outcome, Refusal> {
    let Some(id) = id else { return extend_swarm(state) };
    let task = validate::known(state, &id)?;
    if task.stage.is_closed() {
        return Err(super::task::wrong(state, &id, task, "given a larger budget"));
    }
    if state.policy.task_budget == Allowance::default() {
        return Err(Refusal::NothingToChange { what: format!("Task {id} has no budget") });
    }
    let mut events = vec![Event::BudgetExtended { task: Some(id.clone()) }];
    let waited = matches!(task.stage, Stage::Blocked { block: BlockKind::Budget, .. });
    if waited {
        events.push(super::task::back_in_the_queue(&id));
    }
    let answer = match waited {
        true => format!("Budget of task {id} extended; it is back in the queue"),
        false => format!("Budget of task {id} extended"),
    };
    Ok(Outcome::new(events, answer))
}

fn extend_swarm(state: &State) -> Result<Outcome, Refusal> {
    let paused = state.paused.contains_key(&PauseReason::Budget);
    if state.policy.budget == Allowance::default() && !paused {
        return Err(Refusal::NothingToChange { what: "The swarm has no budget".into() });
    }
    let mut events = vec![Event::BudgetExtended { task: None }];
    if paused {
        events.push(Event::Resumed { reason: PauseReason::Budget });
    }
    Ok(Outcome::new(events, "Budget of the swarm extended"))
}
