//! An operation that moves git, as executors report on it step by step.

use std::collections::BTreeMap;

use swarm_protocol::conflict;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{
    Checkpoint, Fact, FactChange, HookOutcome, Left, Moved, Plan, Request, Saved, SavedStage, SavedTask,
    Survey, TaskPart,
};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::resolve::Answered;
use crate::input::KeyName;
use crate::limits::{EFFECT_FAILURES_MAX, PLAN_BYTES_MAX};
use crate::operation::{goes_on, plan, restore, undo};
use crate::stage::Stage;
use crate::state::State;
use crate::state::operations::{BY_PERSON, Running, Step};

pub(super) fn running<'a>(state: &'a State, op: &CommandId) -> Option<&'a Running> {
    state.ops.running.as_ref().filter(|running| running.id == *op)
}

pub(super) fn failed(id: &CommandId, why: String, hint: String, paths: Vec<String>) -> Vec<Event> {
    vec![Event::OperationFailed { id: id.clone(), why, hint, paths }]
}

pub(super) fn surveyed(state: &State, op: &CommandId, survey: &Survey, now: Timestamp) -> Vec<Event> {
    let Some(running) = running(state, op).filter(|r| matches!(r.step, Step::Surveying)) else {
        return vec![];
    };
    match plan::plan(state, &running.request, survey, now) {
        Ok(plan) if is_empty(&plan) => failed(
            op,
            "There is nothing to change: the state is already as requested".into(),
            "swarm status".into(),
            vec![],
        ),
        Ok(plan) if running.expect.as_ref().is_some_and(|expect| *expect != plan::hash(&plan)) => {
            let refusal = Refusal::PreviewChanged { command: plan::command(state, &running.request) };
            failed(op, refusal.message(), refusal.hint(), vec![])
        }
        Ok(plan) => {
            let bytes = serde_json::to_vec(&plan).map_or(0, |bytes| bytes.len());
            if bytes > PLAN_BYTES_MAX {
                let why = format!("too much would change at once: {bytes} bytes, at most {PLAN_BYTES_MAX}");
                return failed(op, why, "swarm checkpoint list".into(), vec![]);
            }
            vec![Event::OperationPlanned { id: op.clone(), plan }]
        }
        Err(refusal) => failed(op, refusal.message(), refusal.hint(), vec![]),
    }
}

fn is_empty(plan: &Plan) -> bool {
    plan.trunk.is_none() && plan.refs.is_empty() && plan.worktrees.is_empty() && plan.facts.is_empty()
}

pub(super) fn saved(state: &State, name: String, saved: Saved, now: Timestamp) -> Vec<Event> {
    let Saved { trunk, tips, dirty, moving } = saved;
    let made = |name: String, seq, at, auto, trigger: String, full, op| Event::CheckpointMade {
        checkpoint: Checkpoint {
            name,
            at,
            seq,
            auto,
            trigger,
            trunk,
            branch: state.trunk.clone(),
            tips,
            dirty,
            moving,
            full,
            deleted: None,
        },
        op,
    };
    if let Some(running) = &state.ops.running
        && let Step::Saving { plan } = &running.step
        && plan.checkpoint == name
    {
        let op = Some(running.id.clone());
        let by_hand = matches!(running.request, Request::Checkpoint { .. });
        let trigger = if by_hand { BY_PERSON.into() } else { running.kind.clone() };
        let mut events = vec![made(name.clone(), running.before, now, !by_hand, trigger, true, op)];
        if by_hand {
            let after = Some(serde_json::json!({ "seq": running.before }));
            let facts = vec![FactChange { fact: Fact::Checkpoint(name.clone()), before: None, after }];
            let (id, text) = (running.id.clone(), format!("Checkpoint {name} created"));
            events.push(Event::OperationFinished { id, text, facts, made: vec![] });
        }
        return events;
    }
    match state.ops.due.iter().find(|due| due.name == name) {
        Some(due) => {
            let auto = due.trigger != BY_PERSON;
            vec![made(name, due.seq, due.at, auto, due.trigger.clone(), due.full, None)]
        }
        None => vec![],
    }
}

pub(super) fn not_saved(state: &State, name: String, why: String) -> Vec<Event> {
    if let Some(running) = &state.ops.running
        && let Step::Saving { plan } = &running.step
        && plan.checkpoint == name
    {
        let why = format!("The state before it could not be saved: {why}");
        return failed(&running.id, why, "swarm doctor".into(), vec![]);
    }
    match state.ops.due.iter().any(|due| due.name == name) {
        true => vec![Event::CheckpointFailed { name, why }],
        false => vec![],
    }
}

/// Git has moved: the plan follows in the same batch that says so.
pub(super) fn moved(state: &State, op: &CommandId, moved: Moved) -> Vec<Event> {
    let Some(running) = running(state, op) else { return vec![] };
    let Step::Moving { plan, dirty } = &running.step else { return vec![] };
    let mut plan = with_new_commits(plan, &moved);
    if matches!(running.request, Request::Abort { .. }) {
        plan.facts.iter_mut().for_each(|change| with_uncommitted(change, dirty, &moved));
    }
    let mut events: Vec<Event> = plan
        .tasks
        .iter()
        .filter(|(id, _)| state.task(id).is_some())
        .map(|(id, was)| Event::TaskRestored {
            task: id.clone(),
            status: was.stage.status(),
            why: running.kind.clone(),
            stage: Some(was.stage.clone()),
            waived: None,
            saved: Some(was.clone()),
        })
        .collect();
    let by_task = |fact: &Fact| fact.task().is_some_and(|id| plan.tasks.contains_key(id));
    let wanted: Vec<restore::Wanted> =
        restore::afters(&plan.facts).into_iter().filter(|(fact, _)| !by_task(fact)).collect();
    events.extend(restore::events(state, &wanted, &running.kind));
    let facts = plan::all_facts(&plan, &moved, dirty);
    let text = finished_text(state, running, &plan, &moved);
    events.push(Event::OperationFinished { id: op.clone(), text, facts, made: moved.made });
    events
}

fn finished_text(state: &State, running: &Running, plan: &Plan, moved: &Moved) -> String {
    let what = match &running.request {
        Request::Rollback { to, .. } => format!("Rolled back to {to}"),
        Request::RollbackTask { tasks, .. } => {
            format!("Rolled back: {}", tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))
        }
        Request::Abort { .. } => {
            "Aborted; `swarm run --retry` merges the finished work again, in order".into()
        }
        Request::Undo { operation, .. } => {
            let undone = state.ops.record(operation);
            undone.map_or_else(|| format!("Undone: {operation}"), |record| undo::told(state, record))
        }
        Request::Checkpoint { name } => format!("Checkpoint {name} created"),
        Request::Trunk { to, .. } => format!("Trunk is {to} now"),
    };
    let what = match untouched(state, running, plan) {
        Some(ids) => format!("{what}, in the plan alone: the commits of {ids} are not on trunk as they were"),
        None => what,
    };
    let local = moved.local.as_ref().map(|name| format!("; your local changes are at {name}"));
    // Before the tasks are set back, so that it speaks of those that were further on.
    let then = goes_on::said(state, plan).map(|words| format!("; {words}"));
    let (local, then) = (local.unwrap_or_default(), then.unwrap_or_default());
    let decided = match moved.resolved.is_empty() {
        true => String::new(),
        false => format!("; resolved and verified: {}", conflict::shown(&moved.resolved)),
    };
    format!("{what}; the state before is checkpoint {}{then}{local}{decided}", plan.checkpoint)
}

/// Tasks whose work a rollback takes back and whose commits it did not find: somebody may have made others of them.
fn untouched(state: &State, running: &Running, plan: &Plan) -> Option<String> {
    let takes_back = matches!(running.request, Request::Rollback { .. } | Request::RollbackTask { .. });
    let stays_done = |was: &SavedTask| matches!(was.stage, SavedStage::Done { .. } | SavedStage::Gone { .. });
    let ids = plan.tasks.iter().filter(|(id, was)| !stays_done(was) && !plan::merged(state, id).is_empty());
    let ids: Vec<&str> = ids.map(|(id, _)| id.as_str()).collect();
    (takes_back && plan.trunk.is_none() && !ids.is_empty()).then(|| ids.join(", "))
}

/// What lay in a worktree that was put away and was not committed belongs to what comes back.
fn with_uncommitted(change: &mut FactChange, saved: &BTreeMap<TaskId, Oid>, moved: &Moved) {
    let Fact::Part(id, TaskPart::Left) = &change.fact else { return };
    let left = change.after.clone().and_then(|value| serde_json::from_value::<Left>(value).ok());
    let dirty = saved.get(id).or_else(|| moved.dirty.get(id)).cloned();
    if let (Some(left), Some(_)) = (left.filter(|left| left.dirty.is_none()), &dirty) {
        change.after = serde_json::to_value(Left { dirty, ..left }).ok();
    }
}

/// Commits that were brought back have new names: the proofs speak of these.
fn with_new_commits(plan: &Plan, moved: &Moved) -> Plan {
    let mut plan = plan.clone();
    if moved.brought.is_empty() {
        return plan;
    }
    let renamed = |oid: &Oid| moved.brought.get(oid).unwrap_or(oid).clone();
    let fix = |stage: &mut SavedStage| {
        if let SavedStage::Done { proof: Some(proof), .. } = stage {
            let brought = proof.own().iter().any(|oid| moved.brought.contains_key(oid));
            if brought {
                *proof = proof.standing(None);
            }
            proof.commits = proof.commits.iter().map(&renamed).collect();
            proof.commit = renamed(&proof.commit);
        }
    };
    plan.tasks.values_mut().for_each(|was| fix(&mut was.stage));
    for change in plan.facts.iter_mut().filter(|c| c.fact.part() == Some(TaskPart::Stage)) {
        let stage = change.after.clone().and_then(|v| serde_json::from_value::<SavedStage>(v).ok());
        if let Some(mut stage) = stage {
            fix(&mut stage);
            change.after = serde_json::to_value(stage).ok();
        }
    }
    plan
}

pub(super) fn refused(state: &State, op: &CommandId, why: String, hint: String) -> Vec<Event> {
    match running(state, op).filter(|r| matches!(r.step, Step::Moving { .. })) {
        Some(_) => failed(op, why, hint, vec![]),
        None => vec![],
    }
}

pub(super) fn forgotten(state: &State, name: String) -> Vec<Event> {
    match state.ops.checkpoints.get(&name).is_some_and(|c| c.deleted.is_some()) {
        true => vec![Event::CheckpointPurged { name }],
        false => vec![],
    }
}

pub(super) fn rewound(state: &State, id: TaskId, saved: Option<Oid>) -> Vec<Event> {
    match state.ops.rewinds.contains_key(&id) {
        true => vec![Event::WorktreeRewound { task: id, saved }],
        false => vec![],
    }
}

/// Tried again a few times; then the worktree stays as it is, and a person says how to go on.
pub(super) fn not_rewound(state: &State, id: TaskId, why: String) -> Vec<Event> {
    let Some(rewind) = state.ops.rewinds.get(&id) else { return vec![] };
    let given_up = rewind.failures + 1 >= EFFECT_FAILURES_MAX;
    let mut events =
        vec![Event::RewindFailed { task: id.clone(), why: why.clone(), given_up: Some(given_up) }];
    if let Some(task) = state.task(&id).filter(|t| given_up && matches!(t.stage, Stage::Pending { .. })) {
        let why = format!("the worktree still holds what the killed agent changed last: {why}");
        let next = Next::Blocked { block: BlockKind::Setup, why: why.clone() };
        events.push(super::leave(state, &id, task, next, &why));
    }
    events
}

/// The world failed an executor of ours. Before the intent the operation fails; behind it, it is tried again.
pub(super) fn broke(state: &State, key: &KeyName, why: String, now: Timestamp) -> Vec<Event> {
    let name = key.name.clone().unwrap_or_default();
    match key.verb.as_str() {
        "Save" | "Mark" => not_saved(state, name, why),
        "Prove" => super::proof::failed(state, why),
        "Hook" => {
            let outcome = HookOutcome::NotStarted { why };
            name.parse().map_or_else(|_| vec![], |n| super::hook::ended(state, n, outcome, String::new()))
        }
        "Survey" => match &state.ops.running {
            Some(running) if running.id.as_str() == name && matches!(running.step, Step::Surveying) => {
                failed(&running.id, why, "swarm doctor".into(), vec![])
            }
            _ => vec![],
        },
        "Resolve" => match &state.ops.running {
            Some(running) if running.id.as_str() == name => {
                super::resolve::answered(state, &running.id, Answered::without(Some(why)), now)
            }
            _ => vec![],
        },
        "Move" => match &state.ops.running {
            Some(running) if running.id.as_str() == name && running.stuck.as_ref() != Some(&why) => {
                vec![Event::OperationStuck { id: running.id.clone(), why }]
            }
            _ => vec![],
        },
        _ => vec![],
    }
}
