//! What quarantine files still hold that is worth having back, as commands that a person may run.
//!
//! Nothing is replayed: what a lost record said is asked for again, under the rules of today.

use std::collections::BTreeSet;
use std::path::Path;

use swarm_core::State;
use swarm_ledger::salvage::{salvage, salvage_unproven};
use swarm_ledger::{Access, Hash, Line, LossNote, OnDamage, OpenError, Recovery, recover};
use swarm_protocol::command::Command;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;
use swarm_protocol::record::event_of;

use super::error::StoreError;
use super::options::OpenOptions;
use super::writer::Store;
use crate::paths::Paths;

/// Everything found in quarantine.
#[derive(Debug, Default)]
pub struct Salvage {
    /// Files with their records and the bytes that belong to none.
    pub files: Vec<swarm_ledger::salvage::Salvaged>,
    /// Verified records that the ledger does not have, oldest first.
    pub items: Vec<SalvageItem>,
    /// Records of the newest loss, first and last, of which nothing can be read any more.
    pub gaps: Vec<(u64, u64)>,
}

/// One lost record.
#[derive(Debug, Clone, PartialEq)]
pub struct SalvageItem {
    pub seq: u64,
    pub hash: String,
    pub file: String,
    /// The record's type and task.
    pub what: String,
    /// What would bring it back; none where nothing would.
    pub command: Option<Command>,
    /// Why there is no command.
    pub why_not: String,
}

impl Store {
    /// Looks through the quarantine files. Needs no lock and changes nothing; the caller submits the
    /// commands it wants and then acknowledges the loss.
    pub fn salvage(paths: &Paths, options: &OpenOptions) -> Result<Salvage, StoreError> {
        let read = Self::open_reader(paths, options, None)
            .and_then(|reading| Ok((reading.state, hashes(paths, options)?)));
        let (state, (there, notes)) = match read {
            Ok(read) => read,
            Err(StoreError::Open(OpenError::NothingValid(_))) => return unproven(paths, options),
            Err(error) => return Err(error),
        };
        let mut seen = BTreeSet::new();
        let mut lost: Vec<(SalvageItem, Event)> = Vec::new();
        let ledger_paths = paths.ledger_paths();
        let files = salvage(&*options.vfs, &ledger_paths, &mut |file, line| {
            if there.contains(&line.hash) || !seen.insert(line.hash) {
                return;
            }
            lost.extend(item(paths, file, line));
        })
        .map_err(StoreError::io("read the quarantine files in", &paths.swarm))?;
        lost.sort_by_key(|(item, _)| item.seq);
        let newest = notes.last().map(|note| (note.loss.last_good.seq, note.loss.last_seq()));
        let seqs = lost.iter().map(|(item, _)| item.seq);
        let gaps = newest.map_or_else(Vec::new, |(last_good, last)| gaps(last_good, last, seqs));
        let mut added = BTreeSet::new();
        let items = lost.into_iter().map(|(mut item, event)| {
            match command(&state, &mut added, event) {
                Ok(command) => item.command = Some(command),
                Err(why) => item.why_not = why.into(),
            }
            item
        });
        Ok(Salvage { files, items: items.collect(), gaps })
    }
}

/// What a ledger and its copy still hold of which no record can be proven. It is only shown: there is no state to ask for
/// anything in.
fn unproven(paths: &Paths, options: &OpenOptions) -> Result<Salvage, StoreError> {
    let mut seen = BTreeSet::new();
    let mut items = Vec::new();
    let files = salvage_unproven(&*options.vfs, &paths.ledger_paths(), &mut |file, line| {
        if seen.insert(line.hash) {
            items.extend(item(paths, file, line).map(|(item, _)| item));
        }
    })
    .map_err(StoreError::io("read what is left of", &paths.ledger))?;
    items.sort_by_key(|item| item.seq);
    for item in &mut items {
        item.why_not = "no record can be proven: put the ledger back, or take in its plan.json".into();
    }
    Ok(Salvage { files, items, gaps: Vec::new() })
}

/// The records of a loss that nothing shows any more, neighbours as one range. `found`: by their numbers. However many records a
/// witness claims, this is done with those that are there.
fn gaps(last_good: u64, last: u64, found: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut next = last_good.saturating_add(1);
    let mut gaps = Vec::new();
    for seq in found.filter(|seq| *seq <= last) {
        if next < seq {
            gaps.push((next, seq - 1));
        }
        next = next.max(seq.saturating_add(1));
    }
    if next <= last {
        gaps.push((next, last));
    }
    gaps
}

/// All records that are in the ledger, where a repaired one stands as well as in quarantine; and what was noted of losses.
fn hashes(paths: &Paths, options: &OpenOptions) -> Result<(BTreeSet<Hash>, Vec<LossNote>), StoreError> {
    let mut there = BTreeSet::new();
    let request = Recovery {
        vfs: &options.vfs,
        paths: &paths.ledger_paths(),
        witnesses: &[],
        bases: &[],
        on_damage: OnDamage::Ask,
        access: Access::Read,
    };
    let recovered = recover(&request, &mut |line| {
        there.insert(line.hash);
    })
    .map_err(StoreError::Open)?;
    Ok((there, recovered.notes))
}

fn item(paths: &Paths, file: &Path, line: &Line<'_>) -> Option<(SalvageItem, Event)> {
    let event = event_of(line.body).ok()?;
    let task = event.task().map(|task| format!(" {task}")).unwrap_or_default();
    let item = SalvageItem {
        seq: line.seq,
        hash: line.hash.to_string(),
        file: paths.shown(file).to_string(),
        what: format!("{}{task}", event.kind()),
        command: None,
        why_not: String::new(),
    };
    Some((item, event))
}

fn command(state: &State, added: &mut BTreeSet<TaskId>, event: Event) -> Result<Command, &'static str> {
    let known = |task: &TaskId| state.task(task).is_some() || added.contains(task);
    match event {
        Event::TaskAdded { task, .. } if known(&task) => Err("there is a task of this id already"),
        Event::TaskAdded { task, phase, after, spec } => {
            let after = after.filter(known);
            added.insert(task);
            Ok(Command::AddTask { phase: Some(phase), after, task: spec })
        }
        Event::TaskUpdated { task, .. } if !known(&task) => Err("there is no task of this id"),
        Event::TaskUpdated { task, patch } => Ok(Command::EditTask { task, patch }),
        Event::TaskStatusChanged { task, .. } if !known(&task) => Err("there is no task of this id"),
        Event::TaskStatusChanged { task, status, why, .. } => match status {
            Status::Blocked => {
                Ok(Command::BlockTask { task, reason: why.unwrap_or_else(|| "brought back".into()) })
            }
            Status::Deferred => Ok(Command::DeferTask { task }),
            Status::Cancelled => Ok(Command::CancelTask { task }),
            _ => Err("the task comes to this status by being worked on"),
        },
        Event::TaskReordered { task, .. } if !known(&task) => Err("there is no task of this id"),
        Event::TaskReordered { task, after, phase } => {
            Ok(Command::MoveTask { task, after: after.filter(known), phase: Some(phase) })
        }
        Event::ExecutionProfileSet { profile } => Ok(Command::SetProfile { profile }),
        Event::TaskRemoved { .. } => Err("a task is not removed twice: `swarm task cancel` if it should go"),
        _ => Err("it tells what happened then, and cannot happen again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_is_named_by_ranges_however_much_a_witness_claims() {
        assert_eq!(gaps(3, 9, [5, 5, 8].into_iter()), [(4, 4), (6, 7), (9, 9)]);
        assert_eq!(gaps(3, 5, [4, 5, 12].into_iter()), []);
        assert_eq!(gaps(3, u64::MAX - 1, [2].into_iter()), [(4, u64::MAX - 1)]);
    }
}
