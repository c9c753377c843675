//! Interventions that move git as well as the plan, as people ask for them.

use swarm_protocol::command::Command;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::operation::{Force, Request};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::Status;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::{task, validate};
use crate::operation::{self, checkpoints, machine, plan, undo};
use crate::stage::Stage;
use crate::state::State;

/// An operation that begins: what it asks for and the first answer.
pub(super) struct Begun {
    request: Request,
    answer: String,
    expect: Option<String>,
}

/// Whose it is and how it is recorded.
pub(super) struct Asker {
    pub id: CommandId,
    pub by: String,
    pub kind: String,
    pub subject: Option<String>,
}

/// The operation that the command sets back.
pub(super) fn undoes(state: &State, command: &Command) -> Option<CommandId> {
    if *command == Command::ReopenPlan {
        return super::plan::last_close(state).map(|record| record.id.clone());
    }
    let record = match command {
        Command::Undo { operation, .. } => undo::chosen(state, operation.as_ref()),
        Command::Redo { operation, .. } => undo::chosen_undo(state, operation.as_ref()),
        _ => return None,
    };
    record.ok().map(|record| record.id.clone())
}

/// Whether the command moves git, and so has steps; none: it is one batch of events.
pub(super) fn begins(state: &State, command: &Command, now: Timestamp) -> Result<Option<Begun>, Refusal> {
    let expect = expected(command);
    let begun = |request, answer: String| Ok(Some(Begun { request, answer, expect: expect.clone() }));
    match command {
        Command::MakeCheckpoint { name } => {
            let name = match name {
                Some(name) => {
                    checkpoints::check_name(name)?;
                    if state.ops.checkpoints.contains_key(name) {
                        return Err(checkpoints::taken(state, name));
                    }
                    name.clone()
                }
                None => new_checkpoint(state, now),
            };
            let answer = format!("Checkpoint {name} is being made");
            begun(Request::Checkpoint { name }, answer)
        }
        Command::Rollback { to, force, .. } => {
            let to = match to {
                Some(to) => to.clone(),
                None => session_start(state)?,
            };
            operation::on_this_trunk(state, checkpoints::known(state, &to)?)?;
            begun(Request::Rollback { to: to.clone(), force: *force }, format!("Rolling back to {to}"))
        }
        Command::RollbackTask { task, cascade, force, .. } => {
            let tasks = rolled_back(state, task, *cascade)?;
            let answer = match tasks.len() {
                1 => format!("Rolling task {task} back"),
                n => format!("Rolling task {task} back, and {} that build on it", n - 1),
            };
            begun(Request::RollbackTask { tasks, force: *force }, answer)
        }
        Command::Abort { force, .. } => {
            let to = session_start(state)?;
            operation::on_this_trunk(state, checkpoints::known(state, &to)?)?;
            begun(Request::Abort { to, force: *force }, "Aborting: agents are stopped".into())
        }
        Command::SetTrunk { branch, start, .. } => {
            let Some(now) = state.pinned_trunk() else {
                let why = "The plan has not been run yet: its first run records trunk".into();
                return Err(Refusal::CannotMove { why, hint: format!("swarm run --trunk {branch}") });
            };
            if branch == "swarm" || ["swarm/", "refs/", "-"].iter().any(|taken| branch.starts_with(taken)) {
                let (what, why) = (format!("The branch {branch:?}"), "work cannot be merged into it".into());
                return Err(Refusal::BadValue { what, why });
            }
            if now == branch {
                return Err(Refusal::NothingToChange { what: format!("Trunk is {branch} already") });
            }
            operation::nobody_works(state)?;
            let (to, start) = (branch.clone(), start.clone());
            begun(Request::Trunk { to, start }, format!("Trunk becomes {branch}"))
        }
        Command::Undo { operation, partial, force, .. } => {
            let record = undo::chosen(state, operation.as_ref())?;
            undo_begins(state, record, *partial, *force, expect)
        }
        Command::Redo { operation, force, .. } => {
            let record = undo::chosen_undo(state, operation.as_ref())?;
            undo_begins(state, record, false, *force, expect)
        }
        _ => Ok(None),
    }
}

/// What the command would ask of git, for a preview; none: it moves none.
pub fn requested(state: &State, command: &Command, now: Timestamp) -> Result<Option<Request>, Refusal> {
    // What is proposed is looked at as if it were asked for.
    let command = match command {
        Command::AcceptProposal { number } => {
            &state.proposals.waiting.get(number).ok_or(Refusal::UnknownProposal { number: *number })?.command
        }
        other => other,
    };
    Ok(begins(state, command, now)?.map(|begun| begun.request))
}

fn undo_begins(
    state: &State,
    record: &crate::operation::Record,
    partial: bool,
    force: Force,
    expect: Option<String>,
) -> Result<Option<Begun>, Refusal> {
    // Agents that work on its tasks are stopped first where their work is to be set aside.
    let another_trunk = operation::changes_trunk(record).is_some();
    if !record.moves_git() && !force.set_aside && !another_trunk {
        return Ok(None);
    }
    if another_trunk {
        operation::nobody_works(state)?;
    } else {
        operation::moved_another(state, record)?;
    }
    if let Some(Request::RollbackTask { tasks, .. }) = plan::as_another(record, force) {
        rolled_back(state, &tasks[0], false)?;
    } else if record.facts.is_some() {
        undo::settled(state, record, partial, force)?;
    }
    let answer = format!("Undoing {} (operation {})", record.kind, record.seq);
    let request = Request::Undo { operation: record.id.clone(), partial, force };
    Ok(Some(Begun { request, answer, expect }))
}

/// Why the undo of this operation would be refused now, as far as git need not be asked.
pub(crate) fn undo_refused(state: &State, record: &crate::operation::Record) -> Option<Refusal> {
    let begins = undo::chosen(state, Some(&record.id))
        .and_then(|record| undo_begins(state, record, false, Force::default(), None));
    match begins {
        Ok(Some(_)) => None,
        Ok(None) => undo::settled(state, record, false, Force::default()).err(),
        Err(refusal) => Some(refusal),
    }
}

pub(super) fn expected(command: &Command) -> Option<String> {
    match command {
        Command::Rollback { expect, .. }
        | Command::RollbackTask { expect, .. }
        | Command::Abort { expect, .. }
        | Command::SetTrunk { expect, .. }
        | Command::Undo { expect, .. }
        | Command::Redo { expect, .. } => expect.clone(),
        _ => None,
    }
}

fn session_start(state: &State) -> Result<String, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    state
        .ops
        .session_start
        .clone()
        .ok_or(Refusal::UnknownCheckpoint { name: "session-start".into(), near: None })
}

/// The name of a checkpoint that a person makes and does not name.
pub(super) fn new_checkpoint(state: &State, now: Timestamp) -> String {
    checkpoints::unused(state, &format!("checkpoint-{}", stamp(now)))
}

/// The moment as it can stand in a name.
fn stamp(now: Timestamp) -> String {
    now.to_string().chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect()
}

/// The task, and with `cascade` all whose work builds on it, those furthest from it first.
fn rolled_back(state: &State, id: &TaskId, cascade: bool) -> Result<Vec<TaskId>, Refusal> {
    let found = validate::known(state, id)?;
    if matches!(found.stage, Stage::Split { .. }) {
        return Err(task::wrong(state, id, found, "rolled back"));
    }
    let untouched = |task: &crate::state::Task| {
        matches!(task.stage, Stage::Pending { .. } | Stage::Deferred) && !task.worktree
    };
    if untouched(found) {
        return Err(Refusal::NothingToChange { what: format!("Task {id} has no work to roll back") });
    }
    let mut order = vec![id.clone()];
    with_family(state, &mut order, 0);
    let own = order.len();
    let mut at = 0;
    while at < order.len() {
        for other in state.dependents(&order[at]) {
            let builds = state.task(&other).is_some_and(|t| !untouched(t) && t.stage != Stage::Cancelled);
            if builds && !order.contains(&other) {
                let from = order.len();
                order.push(other);
                with_family(state, &mut order, from);
            }
        }
        at += 1;
    }
    let merged = found.stage.proof().is_some();
    if order.len() > own && merged && !cascade {
        return Err(Refusal::HasDependents { task: id.clone(), dependents: order[own..].to_vec() });
    }
    if !cascade {
        order.truncate(own);
    }
    order.iter().try_for_each(|id| operation::merged_into_another(state, id))?;
    Ok(order)
}

/// A whole that is done is made of its parts: they go back with it. A whole without one of its parts is not done, so
/// it goes back with each of them; its other parts stay.
fn with_family(state: &State, order: &mut Vec<TaskId>, from: usize) {
    let done = |id: &TaskId| state.task(id).is_some_and(|t| t.stage.proof().is_some());
    let mut at = from;
    while let Some(task) = order.get(at).and_then(|id| state.task(id)) {
        let parts =
            task.parts.iter().filter(|part| done(&task.spec.id) && done(part) && !order.contains(part));
        let parts: Vec<TaskId> = parts.cloned().collect();
        order.extend(parts);
        at += 1;
    }
    for at in from..order.len() {
        let mut whole = state.task(&order[at]).and_then(|task| task.parent.clone());
        while let Some(id) = whole.filter(|id| done(id) && !order.contains(id)) {
            whole = state.task(&id).and_then(|task| task.parent.clone());
            order.push(id);
        }
    }
}

/// Nothing but these while an operation moves git: they change no fact that it may move.
pub(super) fn never_waits(command: &Command) -> bool {
    matches!(
        command,
        Command::Pause { .. }
            | Command::Resume { .. }
            | Command::SetMode { .. }
            | Command::Drain { .. }
            | Command::MessageAgent { .. }
            | Command::AcknowledgeLoss { .. }
            | Command::DeclineProposal { .. }
            | Command::RecordExport { .. }
    )
}

/// The first events of the operation: it is asked, and whoever it concerns is stopped without penalty.
pub(super) fn asked(state: &State, asker: Asker, begun: Begun, now: Timestamp) -> Vec<Event> {
    let Begun { request, answer, expect } = begun;
    let Asker { id, by, kind, subject } = asker;
    let tasks = machine::concerned(state, &request);
    let why = format!("{kind} asked by a person");
    let mut events = vec![Event::OperationAsked { id, by, kind, subject, request, answer, expect }];
    for (id, task) in &state.tasks {
        if tasks.as_ref().is_some_and(|tasks| !tasks.contains(id)) {
            continue;
        }
        events.extend(stopped(state, id, task, &why, now));
    }
    if tasks.as_ref().is_none_or(|tasks| !tasks.is_empty()) {
        events.extend(super::base::broken_off(state, &why));
    }
    events
}

/// The agent, review or merge of a task broken off; nothing is held against the task.
pub(super) fn stopped(
    state: &State,
    id: &TaskId,
    found: &crate::state::Task,
    why: &str,
    now: Timestamp,
) -> Vec<Event> {
    let task = id.clone();
    match &found.stage {
        Stage::Preparing { run } | Stage::Active { run, .. } | Stage::Checking { run, .. } => {
            let next = Next::Pending { not_before: now, counts: false };
            let agent = state.runs.get(run).and_then(|r| r.agent.clone());
            vec![super::intervene::broken_off(state, id, found, next, why), Event::WorkHeld { task, agent }]
        }
        Stage::Restarting { agent, .. } => {
            let next = Next::Pending { not_before: now, counts: false };
            let agent = Some(agent.clone());
            vec![super::intervene::broken_off(state, id, found, next, why), Event::WorkHeld { task, agent }]
        }
        Stage::Review { run: Some(_), .. } => {
            vec![Event::ReviewInterrupted { task, status: Status::Review, why: why.into() }]
        }
        Stage::Merging { .. } => {
            vec![Event::MergeInterrupted { task, status: Status::Merging, why: why.into() }]
        }
        _ => vec![],
    }
}
