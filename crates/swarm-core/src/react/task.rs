//! What people do with single tasks.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::SavedStage;
use swarm_protocol::outcome::{Ended, Gate, Next};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::put_off::{goes_on, handed_in, hears_first, put_off, puts_off};
use super::validate;
use crate::planted::{self, Bug};
use crate::reviewer::reviewer;
use crate::stage::{MergeStep, Stage};
use crate::state::{STOPPED_BY_A_PERSON, State, Task};

pub(super) fn block(state: &State, id: TaskId, reason: String) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    validate::reason(&reason)?;
    if task.stage.is_closed() || matches!(task.stage, Stage::Blocked { .. }) {
        return Err(wrong(state, &id, task, "blocked"));
    }
    let next = Next::Blocked { block: BlockKind::Human, why: reason.clone() };
    let answer = format!("Task {id} is blocked: {reason}{}", may_be_too_late(task));
    Ok(Outcome::new(vec![leave(state, &id, task, next, "blocked by a person")], answer))
}

pub(super) fn unblock(state: &State, id: TaskId) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    let waits_for_person = matches!(
        task.stage,
        Stage::Blocked { .. } | Stage::Failed { .. } | Stage::Timeout { .. } | Stage::Deferred
    );
    if let Stage::Split { parts, .. } = &task.stage
        && let Some(without) = super::split::without_lost_parts(state, &id, parts)
    {
        return Ok(without);
    }
    if super::proof::gone(task).is_some() {
        return super::proof::merge_again(state, &id, task);
    }
    if !waits_for_person || super::budget::task_is_spent(state, task).is_some() {
        return Err(wrong(state, &id, task, "unblocked"));
    }
    let answer = match put_off(state, task) {
        Some(_) if hears_first(state, task) => {
            format!("Task {id} is back in the queue: its agent gets your message before its work is merged")
        }
        Some(SavedStage::Approved { .. }) => {
            format!("Task {id} waits for its turn to merge again; its work is approved")
        }
        Some(_) => format!("The work of task {id} waits for its review again"),
        None if task.parts.is_empty() => format!("Task {id} is back in the queue"),
        None => format!("Task {id} waits for its parts again"),
    };
    let opened = super::quota::opened_for(state, task);
    Ok(Outcome::new(opened.into_iter().chain(goes_on(state, &id, task)).collect(), answer))
}

pub(super) fn back_in_the_queue(id: &TaskId) -> Event {
    let (task, status) = (id.clone(), Status::Pending);
    Event::TaskStatusChanged { task, status, why: None, block: None, proof: None, was: None }
}

pub(super) fn defer(state: &State, id: TaskId) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    if task.stage.is_closed() || matches!(task.stage, Stage::Deferred) {
        return Err(wrong(state, &id, task, "deferred"));
    }
    let answer = format!("Task {id} is deferred until `swarm task unblock {id}`{}", may_be_too_late(task));
    Ok(Outcome::new(vec![leave(state, &id, task, Next::Deferred, "deferred by a person")], answer))
}

pub(super) fn cancel(state: &State, id: TaskId) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    if task.stage.is_closed() {
        return Err(wrong(state, &id, task, "cancelled"));
    }
    let mut waiting = state.dependents(&id);
    waiting.retain(|other| state.task(other).is_some_and(|t| !t.stage.is_closed()));
    let mut answer = format!("Task {id} is cancelled");
    let open = open_parts(state, task);
    if !open.is_empty() {
        answer += &format!(" with its parts {}", names(&open));
    }
    if !waiting.is_empty() {
        answer += &format!("; still waiting for it: {}", names(&waiting));
    }
    answer += may_be_too_late(task);
    let all = open.iter().filter_map(|part| Some((part, state.task(part)?)));
    let events = all
        .chain([(&id, task)])
        .map(|(id, task)| leave(state, id, task, Next::Cancelled, "cancelled by a person"))
        .collect();
    Ok(Outcome::new(events, answer))
}

/// Trunk may have moved already, and only the report is not here yet: then that is what counts, whatever a person says.
fn may_be_too_late(task: &Task) -> &'static str {
    match &task.stage {
        Stage::Merging { step: MergeStep::Publishing { .. }, .. } => {
            "; its work was on its way to trunk: if it is there first, the task is done"
        }
        _ => "",
    }
}

/// Parts that are neither done nor cancelled, and theirs.
fn open_parts(state: &State, task: &Task) -> Vec<TaskId> {
    let mut open = Vec::new();
    for part in &task.parts {
        let Some(found) = state.task(part).filter(|t| !t.stage.is_closed()) else { continue };
        open.extend(open_parts(state, found));
        open.push(part.clone());
    }
    open
}

fn names(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

/// The task leaves its stage by a person's word. With an agent at work, that is the agent's end.
pub(crate) fn leave(state: &State, id: &TaskId, task: &Task, next: Next, why: &str) -> Event {
    let agent = match &task.stage {
        Stage::Restarting { agent, after, .. } => Some((after, agent)),
        stage => stage.run().and_then(|run| Some((run, state.runs.get(run)?.agent.as_ref()?))),
    };
    if let Some((run, agent)) = agent {
        return Event::AgentStopped {
            task: id.clone(),
            status: next.status(),
            run: run.clone(),
            agent: agent.clone(),
            why: why.into(),
            next,
            goes_on: None,
        };
    }
    let (block, reason) = match &next {
        Next::Blocked { block, why } => (Some(*block), Some(why.clone())),
        _ => (None, None),
    };
    Event::TaskStatusChanged {
        task: id.clone(),
        status: next.status(),
        why: reason,
        block,
        proof: None,
        was: handed_in(state, task).filter(|_| puts_off(&next)),
    }
}

/// What a person stopped goes on when a person says so: by itself it would begin again within seconds.
pub(super) fn withheld(id: &TaskId, why: &str) -> Option<Event> {
    let event = Event::StartWithheld { task: id.clone(), why: why.into() };
    (!planted::is(Bug::StoppedReadyAtOnce)).then_some(event)
}

pub(super) fn stop_agent(state: &State, id: TaskId, now: Timestamp) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    if task.stage.run().is_none() && !matches!(task.stage, Stage::Restarting { .. }) {
        return Err(Refusal::NoAgent { task: id });
    }
    let next = Next::Pending { not_before: now, counts: false };
    let answer =
        format!("Agent of task {id} stopped, its worktree stays; the task waits for `swarm task start {id}`");
    let mut events = vec![leave(state, &id, task, next, "stopped by a person")];
    events.extend(withheld(&id, STOPPED_BY_A_PERSON));
    Ok(Outcome::new(events, answer))
}

pub(super) fn waive(state: &State, id: TaskId, gate: Gate, reason: String) -> Result<Outcome, Refusal> {
    let task = validate::known(state, &id)?;
    validate::reason(&reason)?;
    if reason.trim().is_empty() {
        return Err(Refusal::BadValue { what: "The reason".into(), why: "a waiver needs one".into() });
    }
    if task.stage.is_closed() {
        return Err(wrong(state, &id, task, "waived"));
    }
    if task.waived.contains(&gate) {
        return Err(Refusal::AlreadyWaived { task: id, gate: gate.word().into() });
    }
    let answer = format!("The gate {} of task {id} is waived: {reason}", gate.word());
    let mut events = vec![Event::GateWaived { task: id.clone(), gate, reason }];
    if let (Gate::Review, Stage::Review { tip, tree, .. }) = (gate, &task.stage) {
        events.push(super::review::approved(id, tip.clone(), tree.clone(), "waived"));
    }
    Ok(Outcome::new(events, answer))
}

/// A refusal that says what is possible in the task's present stage.
pub(super) fn wrong(state: &State, id: &TaskId, task: &Task, wanted: &str) -> Refusal {
    Refusal::WrongStatus {
        task: id.clone(),
        status: task.stage.status(),
        wanted: wanted.into(),
        instead: commands(state, id, task),
    }
}

/// How a person reviews a task.
pub(crate) fn review_commands(id: &TaskId) -> Vec<String> {
    vec![
        format!("swarm review show {id}"),
        format!("swarm review approve {id}"),
        format!("swarm review needs-changes {id} WHAT"),
    ]
}

/// The same, where a person may decide about the work that was handed in.
fn by_a_person(state: &State, id: &TaskId, task: &Task) -> Vec<String> {
    match reviewer(state, task) {
        Reviewer::Human | Reviewer::Agent | Reviewer::Council if task.submitted().is_some() => {
            review_commands(id)
        }
        _ => vec![],
    }
}

/// Whether its agent waits for an answer, and nobody has blocked it for another reason since.
pub(crate) fn asks(task: &Task) -> bool {
    let Stage::Blocked { block: BlockKind::Human, why, .. } = &task.stage else { return false };
    matches!(&task.last_end, Some(Ended::AsksHuman { text }) if text == why)
}

/// The answer lets the task go on, and is in the prompt of its next attempt.
pub(crate) fn answer_to(id: &TaskId) -> String {
    format!("swarm agent message {id} \"…\"")
}

/// Commands that make sense for a task in this stage, the most likely first.
pub(crate) fn commands(state: &State, id: &TaskId, task: &Task) -> Vec<String> {
    let all = |verbs: &[&str]| verbs.iter().map(|v| format!("swarm {v} {id}")).collect::<Vec<_>>();
    match &task.stage {
        Stage::Pending { .. } if state.needs_start(task) => {
            all(&["task start", "task show", "task defer", "task cancel"])
        }
        Stage::Pending { .. } => all(&["task show", "task defer", "task cancel"]),
        Stage::Preparing { .. }
        | Stage::Active { .. }
        | Stage::Checking { .. }
        | Stage::Restarting { .. } => all(&["agent stop", "task defer", "task cancel"]),
        Stage::Review { .. } => {
            let mut list = by_a_person(state, id, task);
            list.extend(all(&["task show", "task defer", "task cancel"]));
            let waive = || format!("swarm task waive {id} review --reason WHY");
            // Waived before, it is reviewed for the protected files that it changes.
            list.extend((!task.waived.contains(&Gate::Review)).then(waive));
            list
        }
        Stage::Approved { .. } | Stage::Merging { .. } => all(&["task show", "task defer", "task cancel"]),
        Stage::Blocked { .. } | Stage::Failed { .. } | Stage::Timeout { .. } | Stage::Deferred
            if super::budget::task_is_spent(state, task).is_some() =>
        {
            all(&["budget extend", "task show", "task cancel"])
        }
        Stage::Gone { work, .. } => of_gone_work(state, id, task, work.is_some()),
        Stage::Blocked { block: BlockKind::Review, .. } => {
            let mut list = by_a_person(state, id, task);
            list.extend(all(&["task unblock", "task defer", "task cancel"]));
            list
        }
        Stage::Blocked { block: BlockKind::Empty, .. } => {
            let mut list = all(&["task unblock", "task defer", "task cancel"]);
            if !task.spec.allow_empty {
                list.insert(1, format!("swarm task edit {id} --allow-empty"));
            }
            list.push(format!("swarm task accept {id} --reason WHY"));
            list
        }
        Stage::Blocked { .. } if asks(task) => {
            let mut list = vec![answer_to(id)];
            list.extend(all(&["task unblock", "task defer", "task cancel"]));
            list
        }
        Stage::Blocked { block: BlockKind::Conflict, .. } => {
            all(&["task unblock", "worktree merge", "task defer", "task cancel"])
        }
        Stage::Blocked { block: BlockKind::Overflow, .. } => {
            all(&["task split", "task unblock", "task defer", "task cancel"])
        }
        Stage::Blocked { block: BlockKind::Sandbox, .. } => {
            let mut list = all(&["task unblock", "task defer", "task cancel"]);
            list.insert(1, format!("swarm task edit {id} --profile NAME"));
            list
        }
        Stage::Blocked { .. } | Stage::Failed { .. } | Stage::Timeout { .. } => {
            let mut list = all(&["task unblock", "task defer", "task cancel"]);
            if task.failed_scan && !task.waived.contains(&Gate::Scan) {
                list.insert(1, format!("swarm task waive {id} scan --reason WHY"));
            }
            list
        }
        Stage::Split { parts, .. } if super::split::has_lost_part(state, parts) => {
            all(&["task unblock", "task show", "task cancel"])
        }
        Stage::Split { .. } => all(&["task show", "task cancel"]),
        Stage::Deferred => all(&["task unblock", "task cancel"]),
        Stage::Done { .. } | Stage::Cancelled => all(&["task show"]),
    }
}

/// Work that is not on trunk any more: it comes back, or what is known of it goes too.
fn of_gone_work(state: &State, id: &TaskId, task: &Task, is_kept: bool) -> Vec<String> {
    let unblock = (is_kept || !task.parts.is_empty()).then(|| format!("swarm task unblock {id}"));
    let mut list: Vec<String> = unblock.into_iter().collect();
    // Whatever builds on it goes back with it.
    let cascade = if state.dependents(id).is_empty() { "" } else { " --cascade" };
    list.push(format!("swarm task rollback {id}{cascade}"));
    list.push(format!("swarm task cancel {id}"));
    list.push(format!("swarm task accept {id} --reason WHY"));
    list
}
