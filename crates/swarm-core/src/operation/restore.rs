//! Events that set facts: each by an event of its own kind where there is one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Fact, FactChange, SavedStage, TaskPart};
use swarm_protocol::outcome::{Gate, Mode};
use swarm_protocol::plan::{ExecutionProfile, Extra, PhaseHead, TaskSpec};

use super::facts;
use crate::stage::Stage;
use crate::state::{Message, State};
use crate::structure::patch_between;

/// A fact and the value it is to have.
pub type Wanted = (Fact, Option<Value>);

/// What an undo wants of these changes.
pub fn befores(changes: &[FactChange]) -> Vec<Wanted> {
    changes.iter().map(|c| (c.fact.clone(), c.before.clone())).collect()
}

/// What carrying them out (again) wants.
pub fn afters(changes: &[FactChange]) -> Vec<Wanted> {
    changes.iter().map(|c| (c.fact.clone(), c.after.clone())).collect()
}

/// Events after which the facts have these values. Git's own are passed over.
pub fn events(state: &State, wanted: &[Wanted], why: &str) -> Vec<Event> {
    let wanted: Map<'_> = wanted.iter().map(|(fact, value)| (fact.clone(), value.as_ref())).collect();
    let mut events = Vec::new();
    events.extend(header(&wanted));
    let mut phases_left = wanted.keys().any(|fact| fact.part() == Some(TaskPart::Place));
    let ids: BTreeSet<TaskId> = wanted.keys().filter_map(Fact::task).cloned().collect();
    let (gone, kept): (Vec<&TaskId>, Vec<&TaskId>) =
        ids.iter().partition(|id| matches!(wanted.get(&Fact::Task((*id).clone())), Some(None)));
    let added: Vec<&TaskId> = kept.iter().copied().filter(|id| state.task(id).is_none()).collect();
    for id in in_order(&added, &wanted) {
        events.extend(add(state, id, &wanted, &added));
    }
    for id in kept.iter().copied().filter(|id| state.task(id).is_some()) {
        events.extend(spec(state, id, &wanted));
    }
    for id in kept.iter().copied().filter(|id| state.task(id).is_some()) {
        events.extend(place(state, id, &wanted, &added));
    }
    for id in &kept {
        events.extend(stage(state, id, &wanted, why));
    }
    let opened = |id: &&&TaskId| part(&wanted, id, TaskPart::Stage).is_some_and(is_open);
    events.extend(kept.iter().filter(opened).flat_map(|id| messages_again(state, id)));
    for id in gone.into_iter().filter(|id| state.task(id).is_some()) {
        events.push(Event::TaskRemoved { task: id.clone() });
        phases_left = true;
    }
    // A phase goes when its last task has gone.
    events.extend(header(&wanted).filter(|_| phases_left));
    events.extend(profile(&wanted));
    events.extend(wanted.iter().filter_map(|(fact, value)| swarm(state, fact, *value)));
    events.extend(others(state, &wanted));
    events
}

type Map<'a> = BTreeMap<Fact, Option<&'a Value>>;

fn part<'a>(wanted: &Map<'a>, id: &TaskId, part: TaskPart) -> Option<&'a Value> {
    wanted.get(&Fact::Part(id.clone(), part)).copied().flatten()
}

fn header(wanted: &Map<'_>) -> Option<Event> {
    let value = (*wanted.get(&Fact::Header)?)?;
    let goal = value["goal"].as_str().unwrap_or_default().into();
    let phases: Vec<PhaseHead> = serde_json::from_value(value["phases"].clone()).ok()?;
    let extra: Extra = serde_json::from_value(value["extra"].clone()).unwrap_or_default();
    Some(Event::PlanUpdated { goal, phases, extra })
}

/// A task comes back only after those that its place names.
fn in_order<'a>(added: &[&'a TaskId], wanted: &Map<'_>) -> Vec<&'a TaskId> {
    let mut order = Vec::new();
    let mut left: Vec<&TaskId> = added.to_vec();
    while !left.is_empty() {
        let waits = |id: &&&TaskId| {
            let after = part(wanted, id, TaskPart::Place).and_then(|p| p["after"].as_str());
            !left.iter().any(|other| other != *id && Some(other.as_str()) == after)
        };
        let at = left.iter().position(|id| waits(&id)).unwrap_or(0);
        order.push(left.remove(at));
    }
    order
}

fn add(state: &State, id: &TaskId, wanted: &Map<'_>, coming: &[&TaskId]) -> Option<Event> {
    let spec: TaskSpec = serde_json::from_value(part(wanted, id, TaskPart::Spec)?.clone()).ok()?;
    let (phase, after) = spot(state, part(wanted, id, TaskPart::Place)?, coming)?;
    Some(Event::TaskAdded { task: id.clone(), phase, after, spec })
}

fn spec(state: &State, id: &TaskId, wanted: &Map<'_>) -> Option<Event> {
    let spec: TaskSpec = serde_json::from_value(part(wanted, id, TaskPart::Spec)?.clone()).ok()?;
    let patch = patch_between(&state.task(id)?.spec, &spec);
    (!patch.is_empty()).then(|| Event::TaskUpdated { task: id.clone(), patch })
}

fn place(state: &State, id: &TaskId, wanted: &Map<'_>, coming: &[&TaskId]) -> Option<Event> {
    let (phase, after) = spot(state, part(wanted, id, TaskPart::Place)?, coming)?;
    let now = facts::read(state, &Fact::Part(id.clone(), TaskPart::Place))?;
    let stands = now["phase"] == phase && now["after"].as_str() == after.as_ref().map(TaskId::as_str);
    (!stands).then(|| Event::TaskReordered { task: id.clone(), after, phase })
}

/// Where a task belongs: behind its old neighbour, or where that one is gone behind the last of lower rank.
fn spot(state: &State, value: &Value, coming: &[&TaskId]) -> Option<(u32, Option<TaskId>)> {
    let phase = u32::try_from(value["phase"].as_u64()?).ok()?;
    let Some(named) = value["after"].as_str().and_then(|text| TaskId::new(text).ok()) else {
        return Some((phase, None));
    };
    let order = state.phase(phase).map(|p| p.tasks.as_slice()).unwrap_or_default();
    if order.contains(&named) || coming.contains(&&named) {
        return Some((phase, Some(named)));
    }
    let rank = value["rank"].as_i64()?;
    let lower = |id: &&TaskId| state.task(id).is_some_and(|task| task.rank < rank);
    Some((phase, order.iter().rev().find(lower).cloned()))
}

fn stage(state: &State, id: &TaskId, wanted: &Map<'_>, why: &str) -> Option<Event> {
    let stage =
        part(wanted, id, TaskPart::Stage).and_then(|v| serde_json::from_value::<SavedStage>(v.clone()).ok());
    let waived =
        part(wanted, id, TaskPart::Waived).and_then(|v| serde_json::from_value::<Vec<Gate>>(v.clone()).ok());
    let fresh = state.task(id).is_none();
    let plain = stage.as_ref().is_none_or(|s| *s == SavedStage::Pending { started: false, withheld: false })
        && waived.as_ref().is_none_or(Vec::is_empty);
    if (stage.is_none() && waived.is_none()) || (fresh && plain) {
        return None;
    }
    let status = match (&stage, state.task(id)) {
        (Some(stage), _) => stage.status(),
        (None, Some(task)) => task.stage.status(),
        (None, None) => return None,
    };
    Some(Event::TaskRestored { task: id.clone(), status, why: why.into(), stage, waived, saved: None })
}

fn is_open(stage: &Value) -> bool {
    let stage = serde_json::from_value::<SavedStage>(stage.clone());
    stage.is_ok_and(|stage| !matches!(stage, SavedStage::Done { .. } | SavedStage::Cancelled))
}

/// Messages that were given up when the task was cancelled wait again once it is back. Each is taken out first: queued
/// under its old id, it would be there twice.
pub fn messages_again(state: &State, id: &TaskId) -> Vec<Event> {
    let cancelled = state.task(id).filter(|task| matches!(task.stage, Stage::Cancelled));
    let lost = cancelled.into_iter().flat_map(|task| &task.messages).filter(|m| m.undelivered.is_some());
    let again = |message: &Message| {
        let fact = Fact::Message(message.id.clone());
        let taken_out = FactChange { before: facts::read(state, &fact), fact, after: None };
        let Message { id: message, by, text, .. } = message.clone();
        [
            Event::FactsSet { facts: vec![taken_out] },
            Event::MessageQueued { task: id.clone(), id: message, by, text },
        ]
    };
    lost.flat_map(again).collect()
}

fn profile(wanted: &Map<'_>) -> Vec<Event> {
    let value = wanted.get(&Fact::Profile).copied().flatten();
    let profile = value.and_then(|v| serde_json::from_value::<ExecutionProfile>(v.clone()).ok());
    let Some(profile) = profile else { return vec![] };
    let mut events =
        vec![Event::ExecutionProfileSet { profile: ExecutionProfile { locked: false, ..profile } }];
    events.extend(profile.locked.then_some(Event::ExecutionProfileLocked {}));
    events
}

/// Trunk, the mode and pauses.
fn swarm(state: &State, fact: &Fact, value: Option<&Value>) -> Option<Event> {
    match fact {
        Fact::Trunk => {
            let branch =
                value.and_then(Value::as_str).filter(|name| state.trunk.as_deref() != Some(*name))?;
            Some(Event::TrunkChosen { branch: branch.into() })
        }
        Fact::Mode => {
            let mode = Mode::ALL.into_iter().find(|m| value.and_then(Value::as_str) == Some(m.word()))?;
            (state.mode() != mode || state.mode.is_none()).then_some(Event::ModeChanged { mode })
        }
        Fact::Pause(reason) => match value {
            Some(pause) => {
                let why = pause["why"].as_str().unwrap_or_default().into();
                Some(Event::Paused { reason: *reason, why })
            }
            None => state.paused.contains_key(reason).then_some(Event::Resumed { reason: *reason }),
        },
        _ => None,
    }
}

/// Facts without an event of their own kind.
fn others(state: &State, wanted: &Map<'_>) -> Option<Event> {
    let facts: Vec<FactChange> = wanted
        .iter()
        .filter(|(fact, value)| has_no_event(fact, value.is_some()))
        .map(|(fact, value)| FactChange {
            fact: fact.clone(),
            before: facts::read(state, fact),
            after: value.cloned(),
        })
        .filter(|change| change.before != change.after)
        .collect();
    (!facts.is_empty()).then_some(Event::FactsSet { facts })
}

fn has_no_event(fact: &Fact, set: bool) -> bool {
    match fact {
        // A mode that somebody chose has one; that nobody has chosen any has none.
        Fact::Mode => !set,
        Fact::Part(_, part) => matches!(part, TaskPart::Base | TaskPart::Left | TaskPart::Rounds),
        Fact::Phase(_)
        | Fact::Approved
        | Fact::Checkpoint(_)
        | Fact::Reservation(_)
        | Fact::Redirect(_)
        | Fact::Agent(_)
        | Fact::Quota(_)
        | Fact::Budget(_)
        | Fact::Message(_)
        | Fact::Loss
        | Fact::Seen(_)
        | Fact::Noticed(_) => true,
        Fact::Task(_) | Fact::Trunk | Fact::Pause(_) | Fact::Profile | Fact::Header => false,
        Fact::Ref(_) | Fact::Worktree(_) | Fact::Unknown(_) => false,
    }
}
