//! Reserved files: what a task wants, and who is in its way.

use swarm_protocol::channel::RunKind;
use swarm_protocol::ids::TaskId;
use swarm_protocol::reservation::{Overlap, Reservation};

pub(crate) use crate::globs::means;
use crate::globs::meet;
use crate::planted::{self, Bug};
use crate::state::{State, Task};

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

    fn overlaps(&self, other: &Reservation) -> bool {
        let any = |a: &[String], b: &[String]| a.iter().any(|a| b.iter().any(|b| meet(a, b)));
        any(self.files, &other.files) || any(self.files, &other.shared) || any(self.shared, &other.files)
    }
}

/// What the task reserves while it is worked on.
pub(crate) fn wanted<'a>(state: &State, task: &'a Task) -> Wanted<'a> {
    let spec = &task.spec;
    let named = Wanted { files: &spec.reserve, shared: &spec.share };
    match named.is_empty() && state.policy.reserve_files {
        true => Wanted { files: &spec.files, shared: &[] },
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
    others.filter(move |(_, other)| wanted.overlaps(other)).map(|(number, _)| *number)
}

/// The reservation under which the task is worked on.
pub(crate) fn of_task<'a>(state: &'a State, id: &TaskId) -> Option<(u64, &'a Reservation)> {
    let mut all = state.reservations.iter();
    all.find(|(_, one)| one.task.as_ref() == Some(id)).map(|(number, one)| (*number, one))
}

/// Whether a task waits for files that others have.
pub(crate) fn waits(state: &State) -> bool {
    state.policy.overlap == Overlap::Wait
}

/// Whether anybody works under it, so that it does not run out.
pub(crate) fn is_at_work(state: &State, reservation: &Reservation) -> bool {
    let works = |id: &TaskId| state.runs.values().any(|run| run.task == *id && run.kind == RunKind::Work);
    reservation.task.as_ref().is_some_and(|id| works(id) || state.trunk_held_by.as_ref() == Some(id))
}
