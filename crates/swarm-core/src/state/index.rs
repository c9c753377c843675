//! What `settle`, `owed` and `wakes_at` would find by scanning all tasks, kept up to date by `apply`.
//!
//! A task's entry is a pure function of the state (`Entry::of`), so the index can be thrown away and
//! rebuilt at any time, and the simulator compares both after every step.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;

use super::schedule::{self, OrderKey};
use super::{State, Task, provable};
use crate::stage::Stage;

#[derive(Debug, Clone, Default)]
pub struct Index {
    entries: BTreeMap<TaskId, Entry>,
    /// Who depends on a task. Also holds names that are no tasks yet.
    dependents: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// Pending tasks whose dependencies are done, best first.
    queue: BTreeSet<(OrderKey, TaskId)>,
    /// Those of them that somebody let start.
    started: BTreeSet<(OrderKey, TaskId)>,
    /// Tasks that are or wait to be reviewed, oldest first.
    reviews: BTreeSet<(Timestamp, TaskId)>,
    /// Approved tasks, oldest first.
    approved: BTreeSet<(Timestamp, TaskId)>,
    /// Tasks whose agent begins again after a crash, oldest first.
    restarting: BTreeSet<(Timestamp, TaskId)>,
    /// Tasks that wait for their parts.
    split: BTreeSet<TaskId>,
    /// Tasks for which something may be owed that is neither a run nor the trunk.
    loose: BTreeSet<TaskId>,
    timers: BTreeSet<(Timestamp, TaskId)>,
    /// Tasks whose work can be looked up on trunk.
    provable: BTreeSet<TaskId>,
    /// Closed tasks with messages that nobody was given.
    unheard: BTreeSet<TaskId>,
    /// Tasks of a phase that are neither done nor cancelled.
    open_in_phase: BTreeMap<u32, u64>,
}

/// An index is no fact: two states with the same facts are equal.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    queue: Option<OrderKey>,
    started: bool,
    review: Option<Timestamp>,
    approved: Option<Timestamp>,
    restarting: Option<Timestamp>,
    split: bool,
    loose: bool,
    timer: Option<Timestamp>,
    unheard: bool,
    phase: u32,
    closed: bool,
    done: bool,
    provable: bool,
    depends: Vec<TaskId>,
}

impl Entry {
    fn of(state: &State, index: &Index, id: &TaskId, task: &Task) -> Self {
        let ready = task
            .spec
            .depends
            .iter()
            .all(|d| state.tasks.get(d).is_some_and(|t| matches!(t.stage, Stage::Done { .. })));
        let (queue, timer, approved) = match &task.stage {
            Stage::Pending { since, not_before } if ready => {
                (Some(schedule::order_key(task, *since, index.unblocks(state, id))), Some(*not_before), None)
            }
            Stage::Approved { since, not_before, .. } => (None, Some(*not_before), Some(*since)),
            Stage::Review { not_before, .. }
            | Stage::Restarting { not_before, .. }
            | Stage::Split { not_before, .. } => (None, Some(*not_before), None),
            _ => (None, None, None),
        };
        let review = match &task.stage {
            Stage::Review { since, .. } => Some(*since),
            _ => None,
        };
        let restarting = match &task.stage {
            Stage::Restarting { since, .. } => Some(*since),
            _ => None,
        };
        let loose = match &task.stage {
            _ if task.leaving => true,
            Stage::Approved { waits, .. } => waits.is_some() || task.left.is_some(),
            Stage::Done { .. } | Stage::Cancelled => task.worktree && task.kept.is_none(),
            _ => task.left.is_some(),
        };
        Self {
            queue,
            started: task.started,
            review,
            approved,
            restarting,
            split: matches!(task.stage, Stage::Split { .. }),
            loose,
            timer: timer.filter(|at| *at > Timestamp::ZERO),
            unheard: task.stage.is_closed() && task.messages.iter().any(|m| m.waits()),
            phase: task.phase,
            closed: task.stage.is_closed(),
            done: matches!(task.stage, Stage::Done { .. }),
            provable: provable(task).is_some(),
            depends: task.spec.depends.clone(),
        }
    }
}

impl Index {
    /// Tasks not yet closed that depend on this one.
    pub fn unblocks(&self, state: &State, id: &TaskId) -> u64 {
        self.dependents.get(id).map_or(0, |ids| {
            ids.iter().filter(|d| state.tasks.get(*d).is_some_and(|t| !t.stage.is_closed())).count() as u64
        })
    }

    pub fn dependents(&self, id: &TaskId) -> impl Iterator<Item = &TaskId> {
        self.dependents.get(id).into_iter().flatten()
    }

    pub fn queue(&self) -> impl Iterator<Item = &TaskId> {
        self.queue.iter().map(|(_, id)| id)
    }

    /// As `queue`, without those that wait for a person to start them.
    pub fn started(&self) -> impl Iterator<Item = &TaskId> {
        self.started.iter().map(|(_, id)| id)
    }

    pub fn reviews(&self) -> impl Iterator<Item = &TaskId> {
        self.reviews.iter().map(|(_, id)| id)
    }

    pub fn approved(&self) -> impl Iterator<Item = &TaskId> {
        self.approved.iter().map(|(_, id)| id)
    }

    pub fn restarting(&self) -> impl Iterator<Item = &TaskId> {
        self.restarting.iter().map(|(_, id)| id)
    }

    pub fn split(&self) -> impl Iterator<Item = &TaskId> {
        self.split.iter()
    }

    pub fn loose(&self) -> impl Iterator<Item = &TaskId> {
        self.loose.iter()
    }

    pub fn provable(&self) -> impl Iterator<Item = &TaskId> {
        self.provable.iter()
    }

    pub fn unheard(&self) -> impl Iterator<Item = &TaskId> {
        self.unheard.iter()
    }

    /// The first timer after this moment.
    pub fn timer_after(&self, now: Timestamp) -> Option<Timestamp> {
        let from = (now.plus_ms(1), TaskId::new("0").expect("a digit is a task id"));
        self.timers.range((now.plus_ms(1), from.1)..).next().map(|(at, _)| *at)
    }

    pub fn open_in_phase(&self, phase: u32) -> u64 {
        self.open_in_phase.get(&phase).copied().unwrap_or(0)
    }

    fn forget(&mut self, id: &TaskId) -> Option<Entry> {
        let old = self.entries.remove(id)?;
        if let Some(key) = old.queue {
            self.queue.remove(&(key, id.clone()));
            self.started.remove(&(key, id.clone()));
        }
        if let Some(since) = old.review {
            self.reviews.remove(&(since, id.clone()));
        }
        if let Some(since) = old.approved {
            self.approved.remove(&(since, id.clone()));
        }
        if let Some(since) = old.restarting {
            self.restarting.remove(&(since, id.clone()));
        }
        self.split.remove(id);
        if let Some(at) = old.timer {
            self.timers.remove(&(at, id.clone()));
        }
        self.loose.remove(id);
        self.provable.remove(id);
        self.unheard.remove(id);
        if !old.closed
            && let Some(open) = self.open_in_phase.get_mut(&old.phase)
        {
            *open -= 1;
        }
        Some(old)
    }

    fn take_in(&mut self, id: &TaskId, entry: Entry) {
        if let Some(key) = entry.queue {
            self.queue.insert((key, id.clone()));
            if entry.started {
                self.started.insert((key, id.clone()));
            }
        }
        if let Some(since) = entry.review {
            self.reviews.insert((since, id.clone()));
        }
        if let Some(since) = entry.approved {
            self.approved.insert((since, id.clone()));
        }
        if let Some(since) = entry.restarting {
            self.restarting.insert((since, id.clone()));
        }
        if entry.split {
            self.split.insert(id.clone());
        }
        if let Some(at) = entry.timer {
            self.timers.insert((at, id.clone()));
        }
        if entry.provable {
            self.provable.insert(id.clone());
        }
        if entry.loose {
            self.loose.insert(id.clone());
        }
        if entry.unheard {
            self.unheard.insert(id.clone());
        }
        if !entry.closed {
            *self.open_in_phase.entry(entry.phase).or_default() += 1;
        }
        self.entries.insert(id.clone(), entry);
    }
}

impl State {
    /// Brings the index up to date after this task changed (or came, or went).
    pub(crate) fn reindex(&mut self, id: &TaskId) {
        let mut index = std::mem::take(&mut self.index);
        let old = index.forget(id);
        let task = self.tasks.get(id);
        let old_depends: &[TaskId] = old.as_ref().map_or(&[], |e| &e.depends);
        let new_depends: &[TaskId] = task.map_or(&[], |t| &t.spec.depends);
        let mut others: BTreeSet<TaskId> = BTreeSet::new();
        if old_depends != new_depends {
            for d in old_depends {
                if let Some(set) = index.dependents.get_mut(d) {
                    set.remove(id);
                }
                others.insert(d.clone());
            }
            for d in new_depends {
                index.dependents.entry(d.clone()).or_default().insert(id.clone());
                others.insert(d.clone());
            }
        }
        if let Some(task) = task {
            let entry = Entry::of(self, &index, id, task);
            let was = old.as_ref().map(|e| (e.closed, e.done));
            if was != Some((entry.closed, entry.done)) {
                others.extend(new_depends.iter().cloned());
                others.extend(index.dependents(id).cloned());
            }
            index.take_in(id, entry);
        } else {
            others.extend(index.dependents(id).cloned());
        }
        others.remove(id);
        for other in others {
            index.forget(&other);
            if let Some(task) = self.tasks.get(&other) {
                let entry = Entry::of(self, &index, &other, task);
                index.take_in(&other, entry);
            }
        }
        self.index = index;
    }

    /// Makes the index anew, as after reading a snapshot.
    pub fn rebuild_index(&mut self) {
        self.index = self.built_index();
    }

    fn built_index(&self) -> Index {
        let mut index = Index::default();
        for (id, task) in &self.tasks {
            for d in &task.spec.depends {
                index.dependents.entry(d.clone()).or_default().insert(id.clone());
            }
        }
        for (id, task) in &self.tasks {
            let entry = Entry::of(self, &index, id, task);
            index.take_in(id, entry);
        }
        index
    }

    /// Compares the index with a full scan; the simulator asks after every step.
    pub fn check_index(&self) -> Result<(), String> {
        let built = self.built_index();
        let differ =
            |what: &str, a: String, b: String| Err(format!("index: {what} differs: kept {a}, scanned {b}"));
        if built.entries != self.index.entries {
            return differ("entries", format!("{:?}", self.index.entries), format!("{:?}", built.entries));
        }
        if (&built.queue, &built.approved, &built.timers, &built.loose)
            != (&self.index.queue, &self.index.approved, &self.index.timers, &self.index.loose)
        {
            return differ("order", format!("{:?}", self.index.queue), format!("{:?}", built.queue));
        }
        if built.provable != self.index.provable {
            return differ("proofs", format!("{:?}", self.index.provable), format!("{:?}", built.provable));
        }
        if (&built.started, &built.reviews) != (&self.index.started, &self.index.reviews) {
            return differ("starts", format!("{:?}", self.index.started), format!("{:?}", built.started));
        }
        if (&built.restarting, &built.split) != (&self.index.restarting, &self.index.split) {
            let kept = format!("{:?} {:?}", self.index.restarting, self.index.split);
            return differ("restarts", kept, format!("{:?} {:?}", built.restarting, built.split));
        }
        let open = |i: &Index| {
            i.open_in_phase.iter().filter(|(_, n)| **n > 0).map(|(p, n)| (*p, *n)).collect::<Vec<_>>()
        };
        if open(&built) != open(&self.index) {
            return differ("open tasks", format!("{:?}", open(&self.index)), format!("{:?}", open(&built)));
        }
        Ok(())
    }

    /// Tasks that wait for this one, in id order.
    pub fn dependents(&self, id: &TaskId) -> Vec<TaskId> {
        self.index.dependents(id).filter(|d| self.tasks.contains_key(*d)).cloned().collect()
    }
}
