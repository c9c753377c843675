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
    /// Finished work, and the reservations that it waits for.
    waits: BTreeMap<TaskId, Vec<u64>>,
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
            Event::MergeHeld { task, reservations, .. } => {
                self.waits.insert(task.clone(), reservations.clone());
            }
            Event::TrunkGranted { task, .. } | Event::TaskClaimed { task, .. } => {
                drop(self.waits.remove(task))
            }
            _ => {}
        }
    }

    /// Files are given to one at a time, and to a task before its agent. Of tasks that share a tree this holds whatever else is
    /// allowed.
    pub fn judge(
        &self,
        event: &Event,
        wants: impl Fn(&TaskId) -> bool,
        shares: impl Fn(&TaskId) -> bool,
    ) -> Result<(), Broken> {
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
                let share_a_tree = |other: &Held| {
                    let both = task.as_ref().zip(other.task.as_ref());
                    both.is_some_and(|(task, other)| shares(task) && shares(other))
                };
                let counts = |other: &&Held| self.overlap != Overlap::Warn || share_a_tree(other);
                match self.held.values().filter(clash).find(counts) {
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

    fn waits_for(&self, first: &TaskId, second: &TaskId) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![first]);
        while let Some(task) = next.pop() {
            let numbers = self.waits.get(task).into_iter().flatten();
            let holders: Vec<&TaskId> =
                numbers.filter_map(|number| self.held.get(number)?.task.as_ref()).collect();
            if holders.contains(&second) {
                return true;
            }
            next.extend(holders.into_iter().filter(|holder| seen.insert(*holder)));
        }
        false
    }

    /// What others have reserved is not changed under them, unless their own work waits for this one.
    pub fn may_be_merged(&self, task: &TaskId, changed: &BTreeSet<usize>) -> Result<(), Broken> {
        if self.overlap == Overlap::Warn {
            return Ok(());
        }
        let counts = |held: &Held| {
            held.task.as_ref().is_none_or(|other| other != task && !self.waits_for(other, task))
        };
        let mut others = self.held.iter().filter(|(_, held)| counts(held));
        let clash = others.find(|(_, held)| !held.files.is_disjoint(changed));
        match clash {
            Some((number, held)) => {
                let rule = "work in files that somebody else has reserved is not merged";
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
