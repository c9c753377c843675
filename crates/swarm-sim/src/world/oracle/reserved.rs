//! What has to hold of reserved files, read from the events alone.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::reservation::Overlap;

use super::{Broken, broken};
use crate::world::reserving::meant;

#[derive(Debug, Clone)]
struct Held {
    task: Option<TaskId>,
    files: BTreeSet<usize>,
    shared: BTreeSet<usize>,
}

/// Who has which files.
#[derive(Debug, Default)]
pub struct Reserved {
    held: BTreeMap<u64, Held>,
    overlap: Overlap,
}

impl Reserved {
    pub fn read(&mut self, event: &Event) {
        match event {
            Event::CoordinatorStarted { policy, .. } => self.overlap = policy.overlap,
            Event::ReservationGranted { task, number, files, shared, .. } => {
                let (files, shared) = (meant(files).collect(), meant(shared).collect());
                self.held.insert(*number, Held { task: task.clone(), files, shared });
            }
            Event::ReservationReleased { number, .. } => drop(self.held.remove(number)),
            _ => {}
        }
    }

    /// Files are given to one at a time, and to a task before its agent.
    pub fn judge(&self, event: &Event, wants: impl Fn(&TaskId) -> bool) -> Result<(), Broken> {
        match event {
            Event::ReservationGranted { task, number, files, shared, .. } => {
                let rule = "files are reserved for one at a time";
                let files: BTreeSet<usize> = meant(files).collect();
                let shared: BTreeSet<usize> = meant(shared).collect();
                let clash = |other: &&Held| {
                    !files.is_disjoint(&other.files)
                        || !files.is_disjoint(&other.shared)
                        || !shared.is_disjoint(&other.files)
                };
                if self.held.contains_key(number)
                    || task.is_some() && self.held.values().any(|h| h.task == *task)
                {
                    return Err(broken("a reservation is made once", format!("{number} for {task:?}")));
                }
                match self.held.values().find(clash).filter(|_| self.overlap != Overlap::Warn) {
                    Some(other) => Err(broken(rule, format!("{task:?} has {files:?}, and {other:?}"))),
                    None => Ok(()),
                }
            }
            Event::TaskClaimed { task, .. } if wants(task) => {
                match self.held.values().any(|held| held.task.as_ref() == Some(task)) {
                    true => Ok(()),
                    false => Err(broken("a task has its files before its agent", task.to_string())),
                }
            }
            _ => Ok(()),
        }
    }

    /// What somebody reserved before the task did, or a person at any time, is not changed under them.
    pub fn may_be_merged(&self, task: &TaskId, changed: &BTreeSet<usize>) -> Result<(), Broken> {
        if self.overlap == Overlap::Warn {
            return Ok(());
        }
        let own = self.held.iter().find(|(_, held)| held.task.as_ref() == Some(task));
        let first = own.map_or(u64::MAX, |(number, _)| *number);
        let mut before = self.held.iter().filter(|(number, held)| **number < first || held.task.is_none());
        let clash = before.find(|(_, held)| !held.files.is_disjoint(changed));
        match clash {
            Some((number, held)) => {
                let rule = "work in files that somebody reserved before is not merged";
                Err(broken(
                    rule,
                    format!("{task} changes {changed:?}, reservation {number} has {:?}", held.files),
                ))
            }
            None => Ok(()),
        }
    }

    /// Nothing is kept by a task that nobody works on.
    pub fn at_rest(&self) -> Result<(), Broken> {
        match self.held.values().find_map(|held| held.task.as_ref()) {
            Some(task) => Err(broken("a reservation ends with its task", task.to_string())),
            None => Ok(()),
        }
    }
}
