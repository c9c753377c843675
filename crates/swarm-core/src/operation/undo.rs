//! Undo: the facts of an operation back to what they were before it, each only if it still is what
//! the operation made of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::operation::{Fact, FactChange, Force, SavedStage, TaskPart};
use swarm_protocol::refusal::{Changed, Refusal};

use super::{facts, since};
use crate::planted::{self, Bug};
use crate::state::State;
use crate::state::operations::Record;
use crate::state::saved;

/// The operation that an undo is about: the one named, or the newest of a person.
pub fn chosen<'a>(state: &'a State, named: Option<&CommandId>) -> Result<&'a Record, Refusal> {
    let record = match named {
        Some(id) => find(state, id)?,
        None => {
            let candidate = |r: &&Record| r.by_person() && r.undoes.is_none() && r.can_be_undone();
            let newest = state.ops.log.iter().rev().find(candidate);
            newest.ok_or(Refusal::NothingToUndo { what: "undo".into() })?
        }
    };
    may_be_undone(state, record)?;
    Ok(record)
}

/// The undo that a redo takes back: the one named, or the newest.
pub fn chosen_undo<'a>(state: &'a State, named: Option<&CommandId>) -> Result<&'a Record, Refusal> {
    let record = match named {
        Some(id) => find(state, id)?,
        None => {
            let candidate = |r: &&Record| r.by_person() && r.kind == "undo" && r.can_be_undone();
            let newest = state.ops.log.iter().rev().find(candidate);
            newest.ok_or(Refusal::NothingToUndo { what: "redo".into() })?
        }
    };
    if record.undoes.is_none() {
        return Err(Refusal::NothingToUndo {
            what: format!("redo: operation {} is not an undo", record.seq),
        });
    }
    may_be_undone(state, record)?;
    Ok(record)
}

fn find<'a>(state: &'a State, id: &CommandId) -> Result<&'a Record, Refusal> {
    state.ops.record(id).ok_or_else(|| Refusal::UnknownOperation { id: id.as_str().into() })
}

fn may_be_undone(state: &State, record: &Record) -> Result<(), Refusal> {
    if let Some(by) = &record.undone_by {
        return Err(Refusal::AlreadyUndone {
            id: record.id.clone(),
            by: by.clone(),
            number: Some(record.seq),
            by_number: state.ops.record(by).map(|by| by.seq),
        });
    }
    if !record.can_be_undone() {
        return Err(Refusal::UnknownOperation { id: record.seq.to_string() });
    }
    Ok(())
}

/// The changes of an operation that can be set back now, and those that something else has changed since.
pub struct Split {
    pub back: Vec<FactChange>,
    pub changed: Vec<Changed>,
}

/// Sorts the facts of the plan and the swarm; git's own are judged by the survey.
pub fn split(state: &State, record: &Record, force: Force) -> Split {
    let mut split = Split { back: vec![], changed: vec![] };
    for change in record.facts.iter().flatten() {
        if change.fact.is_of_git() {
            continue;
        }
        if let Some(other) = since::in_the_way(state, record, change) {
            split.changed.push(other);
            continue;
        }
        let now = facts::read(state, &change.fact);
        let stands = facts::holds(&change.fact, change.after.as_ref(), now.as_ref());
        if stands || planted::is(Bug::UndoneOverLaterChange) {
            split.back.push(change.clone());
        } else if force.set_aside && may_be_set_aside(state, record, &change.fact) {
            // What is there now is what a redo brings back.
            split.back.push(FactChange { after: now, ..change.clone() });
        } else {
            split.changed.push(changed(state, record, &change.fact, now.as_ref()));
        }
    }
    keep_structure(state, record, &mut split);
    keep_what_stays(&mut split);
    split
}

/// A task that stays keeps all that it began with, and with it stays the plan that it belongs to.
fn keep_what_stays(split: &mut Split) {
    let stays: BTreeSet<TaskId> = split
        .changed
        .iter()
        .filter_map(|one| match &one.fact {
            Fact::Task(id) => Some(id.clone()),
            _ => None,
        })
        .collect();
    split.back.retain(|change| match &change.fact {
        Fact::Part(id, _) => change.before.is_some() || !stays.contains(id),
        Fact::Header => change.before.is_some() || stays.is_empty(),
        _ => true,
    });
}

/// Whether only agents have changed it since, and their work is not finished: then it can be kept elsewhere
/// and the fact set back all the same.
pub fn may_be_set_aside(state: &State, record: &Record, fact: &Fact) -> bool {
    let agents = match fact {
        Fact::Part(id, TaskPart::Stage) => state.task(id).is_some_and(|task| {
            use SavedStage::{Approved, Pending, Review, Working};
            matches!(saved::stage(task), Pending { .. } | Working | Review { .. } | Approved { .. })
        }),
        Fact::Part(_, part) => *part == TaskPart::Base,
        other => other.task_in_git().is_some(),
    };
    agents && changed_by(state, record, fact).is_empty()
}

/// What a person reads when it is done: the undo of an undo does again what was undone.
pub fn told(state: &State, record: &Record) -> String {
    match record.undoes.as_ref().and_then(|id| state.ops.record(id)) {
        Some(again) => format!("Redone: {}", again.describe()),
        None => format!("Undone: {}", record.describe()),
    }
}

/// Those that stand, or a refusal that names what has changed and what to undo first.
pub fn settled(
    state: &State,
    record: &Record,
    partial: bool,
    force: Force,
) -> Result<Vec<FactChange>, Refusal> {
    let Split { back, changed } = split(state, record, force);
    if !changed.is_empty() && (!partial || back.is_empty() && !record.moves_git()) {
        let instead = instead(state, record, &changed, !back.is_empty());
        return Err(Refusal::ChangedSince {
            id: record.id.clone(),
            what: record.describe(),
            changes: changed,
            instead,
        });
    }
    Ok(back)
}

/// The command that helps where facts have changed since: the undo of what changed them, which may wait
/// for another one in turn; or this one with the agents' work set aside; or what is left of it; or a look at it.
pub fn instead(state: &State, record: &Record, changed: &[Changed], some_stand: bool) -> String {
    if changed.iter().any(|one| one.fact == since::ABORTED) {
        return "swarm abort --dry-run".into();
    }
    let mut first = record;
    let (mut changed, mut some) = (changed.to_vec(), some_stand);
    // Each step leads to a later operation, so it ends.
    loop {
        if let Some(look) = changed.iter().find_map(|one| since::to_look_at(state, one)) {
            return look;
        }
        // By the number that `swarm op log` shows.
        let number = first.seq;
        let later = changed.iter().flat_map(|c| &c.by).filter_map(|id| state.ops.record(id));
        // What no operation has changed no undo brings back: to undo others for it would be in vain.
        let in_vain = changed.iter().any(|c| c.by.is_empty() && !may_be_set_aside(state, first, &c.fact));
        match later.filter(|r| r.can_be_undone() && !in_vain).max_by_key(|r| r.seq) {
            // Undone while agents go on, it would be merged again before the next undo is asked for.
            Some(next) if next.kind == "merge" && goes_on(state) => return "swarm pause".into(),
            Some(next) => first = next,
            None if changed.is_empty() => return format!("swarm undo {number}"),
            None if changed.iter().all(|c| may_be_set_aside(state, first, &c.fact)) => {
                return format!("swarm undo {number} --set-aside");
            }
            None if some => return format!("swarm undo {number} --partial"),
            None if some_stand => return format!("swarm undo {} --partial", record.seq),
            None => return format!("swarm op show {}", record.seq),
        }
        let split = split(state, first, Force::default());
        (changed, some) = (split.changed, !split.back.is_empty());
    }
}

/// Whether approved work is merged and ready tasks are started without a further word.
fn goes_on(state: &State) -> bool {
    state.running && !state.draining && state.paused.is_empty()
}

pub fn changed(state: &State, record: &Record, fact: &Fact, now: Option<&Value>) -> Changed {
    Changed { fact: fact.clone(), words: facts::describe(fact, now), by: changed_by(state, record, fact) }
}

/// Later operations that stand and touched this fact, newest first. One that only took back another later one is none of
/// them: both together changed nothing, and to undo it would lead back to the other, and from there to it again.
fn changed_by(state: &State, record: &Record, fact: &Fact) -> Vec<CommandId> {
    let evens_out = |r: &Record| {
        let undone = r.undoes.as_ref().and_then(|id| state.ops.record(id));
        undone.is_some_and(|undone| undone.seq > record.seq)
    };
    let touches = |r: &&Record| {
        r.seq > record.seq
            && r.undone_by.is_none()
            && r.failed.is_none()
            && !evens_out(r)
            && r.facts.iter().flatten().any(|c| c.fact == *fact)
    };
    state.ops.log.iter().rev().filter(touches).map(|r| r.id.clone()).collect()
}

/// No dependency may point to nothing, nor in a circle, after the facts are set back.
fn keep_structure(state: &State, record: &Record, split: &mut Split) {
    while let Some(InTheWay { task, fact, words }) = broken(state, &split.back) {
        let by = changed_by(state, record, &fact);
        split.changed.push(Changed { fact, words, by });
        // Whatever belongs to the task goes or stays as a whole.
        let before = split.back.len();
        split.back.retain(|c| c.fact.task() != Some(&task));
        if split.back.len() == before {
            return;
        }
    }
}

/// A dependency that would not stand: whose facts must stay, the fact that is in the way, how to say it.
struct InTheWay {
    task: TaskId,
    fact: Fact,
    words: String,
}

fn broken(state: &State, back: &[FactChange]) -> Option<InTheWay> {
    let mut edges: BTreeMap<TaskId, Vec<TaskId>> =
        state.tasks.iter().map(|(id, task)| (id.clone(), task.spec.depends.clone())).collect();
    let mut set_back = BTreeSet::new();
    for change in back {
        match (&change.fact, &change.before) {
            (Fact::Task(id), None) => {
                edges.remove(id);
                set_back.insert(id.clone());
            }
            (Fact::Part(id, TaskPart::Spec), Some(spec)) => {
                let depends = serde_json::from_value(spec["depends"].clone()).unwrap_or_default();
                edges.insert(id.clone(), depends);
                set_back.insert(id.clone());
            }
            _ => {}
        }
    }
    if set_back.is_empty() {
        return None;
    }
    for (id, depends) in &edges {
        let Some(missing) = depends.iter().find(|d| !edges.contains_key(*d)) else { continue };
        let words = format!("task {id} depends on {missing}");
        return Some(match set_back.contains(id) {
            true => InTheWay { task: id.clone(), fact: Fact::Task(missing.clone()), words },
            false => InTheWay { task: missing.clone(), fact: Fact::Part(id.clone(), TaskPart::Spec), words },
        });
    }
    // A task that was split waits for its parts as well.
    for (id, whole) in state.tasks.iter().filter(|(_, task)| !task.parts.is_empty()) {
        let parts: Vec<TaskId> =
            whole.parts.iter().filter(|part| edges.contains_key(*part)).cloned().collect();
        edges.entry(id.clone()).and_modify(|depends| depends.extend(parts));
    }
    let borrowed: BTreeMap<&TaskId, &[TaskId]> = edges.iter().map(|(id, d)| (id, d.as_slice())).collect();
    let Err(Refusal::Cycle { path }) = crate::structure::graph(&borrowed) else { return None };
    let task = path.iter().find(|id| set_back.contains(*id))?.clone();
    let other = path.iter().find(|id| !set_back.contains(*id)).unwrap_or(&task);
    let fact = Fact::Part(other.clone(), TaskPart::Spec);
    let words = format!("task {task} would depend on itself");
    Some(InTheWay { fact, words, task })
}
