//! Reserved files: what a task wants, and who is in its way.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use swarm_protocol::channel::RunKind;
pub(crate) use swarm_protocol::globs::means;
use swarm_protocol::globs::meet;
use swarm_protocol::ids::TaskId;
use swarm_protocol::reservation::{Isolation, Overlap, Reservation};
use swarm_protocol::time::Timestamp;

use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{State, Task};

/// Why one has ended, by the clock.
pub(crate) const TIME_IS_OVER: &str = "its time is over";

/// Files that are wanted together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// For oneself.
    pub files: &'a [String],
    /// Others may share them.
    pub shared: &'a [String],
}

impl Wanted<'_> {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.shared.is_empty()
    }

    /// Whether both cannot be had at once.
    pub fn overlaps(&self, other: Wanted<'_>) -> bool {
        let any = |a: &[String], b: &[String]| a.iter().any(|a| b.iter().any(|b| meet(a, b)));
        any(self.files, other.files) || any(self.files, other.shared) || any(self.shared, other.files)
    }
}

/// Everything there is: whoever shares a tree and does not say which files are its own works there alone.
static ALL_FILES: LazyLock<Vec<String>> = LazyLock::new(|| vec!["**".into()]);

/// Whether the task is worked on in the tree that tasks share. Whoever is at it stays where they began.
pub(crate) fn shares_the_tree(state: &State, task: &Task) -> bool {
    let at_work = task.stage.run().and_then(|run| state.runs.get(run)?.shares);
    at_work.unwrap_or_else(|| wants_the_shared_tree(state, task))
}

/// Whether its next attempt works there.
pub(crate) fn wants_the_shared_tree(state: &State, task: &Task) -> bool {
    match &task.spec.isolation {
        Some(word) => Isolation::of_word(word) == Some(Isolation::Reservation),
        None => state.policy.shared_tree,
    }
}

/// What the task reserves while it is worked on.
pub(crate) fn wanted<'a>(state: &State, task: &'a Task) -> Wanted<'a> {
    let spec = &task.spec;
    let shares = shares_the_tree(state, task);
    let named = Wanted { files: &spec.reserve, shared: &spec.share };
    match named.is_empty() && (state.policy.reserve_files || shares && !spec.files.is_empty()) {
        true => Wanted { files: &spec.files, shared: &[] },
        false if shares && named.files.is_empty() => Wanted { files: &ALL_FILES, ..named },
        false => named,
    }
}

/// The reservations of others that overlap with it.
pub(crate) fn in_the_way<'a>(
    state: &'a State,
    holder: Option<&'a TaskId>,
    wanted: Wanted<'a>,
) -> impl Iterator<Item = u64> + 'a {
    let granted = !planted::is(Bug::ReservationGrantedTwice);
    let others = state.reservations.iter().filter(move |_| granted && !wanted.is_empty());
    let others = others.filter(move |(_, other)| holder.is_none() || other.task.as_ref() != holder);
    let overlaps =
        move |other: &Reservation| wanted.overlaps(Wanted { files: &other.files, shared: &other.shared });
    others.filter(move |(_, other)| overlaps(other)).map(|(number, _)| *number)
}

/// The reservation under which the task is worked on.
pub(crate) fn of_task<'a>(state: &'a State, id: &TaskId) -> Option<(u64, &'a Reservation)> {
    let mut all = state.reservations.iter();
    all.find(|(_, one)| one.task.as_ref() == Some(id)).map(|(number, one)| (*number, one))
}

/// Whether the task waits for files that others have. In one tree two cannot have the same, whatever else is allowed.
pub(crate) fn waits(state: &State, task: &Task) -> bool {
    match state.policy.overlap {
        Overlap::Wait => true,
        Overlap::Warn => shares_the_tree(state, task),
        Overlap::Deny => false,
    }
}

/// The files that the task changes in the tree that it shares with others; none: it has a tree of its own.
pub(crate) fn held_in_the_shared_tree(state: &State, task: &Task) -> Option<Vec<String>> {
    // Whoever resolves a conflict merges, and that is done in the task's own worktree.
    if !shares_the_tree(state, task) || !task.conflicts_in.is_empty() {
        return None;
    }
    Some(of_task(state, &task.spec.id).map(|(_, one)| one.files.clone()).unwrap_or_default())
}

/// Whether nobody works under it and its time is over. Where no coordinator runs, nobody has said so yet.
pub(crate) fn is_over(state: &State, reservation: &Reservation, now: Timestamp) -> bool {
    !is_at_work(state, reservation) && reservation.until() <= now
}

/// Whether finished work of the first task waits, if only by way of others, for files that the second one has.
pub(crate) fn waits_for(state: &State, first: &TaskId, second: &TaskId) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([first]), vec![first]);
    while let Some(id) = next.pop() {
        let held = state.task(id).filter(|task| matches!(task.stage, Stage::Approved { .. }));
        let numbers = held.into_iter().flat_map(|task| &task.held_by);
        for holder in numbers.filter_map(|number| state.reservations.get(number)?.task.as_ref()) {
            if holder == second {
                return true;
            }
            if seen.insert(holder) {
                next.push(holder);
            }
        }
    }
    false
}

/// Whether anybody works under it, so that it does not run out.
pub(crate) fn is_at_work(state: &State, reservation: &Reservation) -> bool {
    let at_trunk = |id: &TaskId| state.trunk_held_by.as_ref() == Some(id);
    reservation.task.as_ref().is_some_and(|id| has_agent(state, id) || at_trunk(id))
}

/// Whether processes of an agent may be at work on the task.
pub(crate) fn has_agent(state: &State, id: &TaskId) -> bool {
    state.runs.values().any(|run| run.task == *id && run.kind == RunKind::Work)
}
