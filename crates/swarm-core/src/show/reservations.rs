//! Who has which files for themselves, and who waits for them.

use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::ReservationView;

use crate::reservations::{in_the_way, is_at_work, is_over, of_task, wanted};
use crate::state::{State, Task};

/// Tasks of the queue that are asked what they wait for; and those that are named.
const ASKED_MAX: usize = 64;

/// Those that stand now.
pub fn reservations(state: &State, now: Timestamp) -> Vec<ReservationView> {
    if state.reservations.is_empty() {
        return vec![];
    }
    let to_begin: Vec<(&TaskId, Vec<u64>)> =
        state.index.queue().take(ASKED_MAX).map(|id| (id, awaited(state, id))).collect();
    let view = |(number, one): (&u64, &swarm_protocol::reservation::Reservation)| {
        let begin = to_begin.iter().filter(|(_, awaited)| awaited.contains(number)).map(|(id, _)| *id);
        let merged = state.index.approved().take(ASKED_MAX);
        let merge = merged.filter(|id| state.task(id).is_some_and(|task| task.held_by.contains(number)));
        ReservationView {
            number: *number,
            holder: one.holder(),
            task: one.task.clone(),
            files: one.files.clone(),
            shared: one.shared.clone(),
            reason: one.reason.clone(),
            since: one.since,
            until: (!is_at_work(state, one)).then(|| one.until()),
            waiting: begin.chain(merge).cloned().collect(),
            beside: one.beside.clone(),
        }
    };
    state.reservations.iter().filter(|(_, one)| !is_over(state, one, now)).map(view).collect()
}

/// The files that the task has for itself while it is worked on.
pub fn reserved_for(state: &State, id: &TaskId) -> Vec<String> {
    of_task(state, id).map(|(_, one)| one.files.clone()).unwrap_or_default()
}

/// The first so many names of files that others have for themselves.
pub fn reserved_by_others(state: &State, id: &TaskId, most: usize) -> Vec<String> {
    let others = state.reservations.values().filter(|one| one.task.as_ref() != Some(id));
    others.flat_map(|one| &one.files).take(most).cloned().collect()
}

/// Whose files a task of the queue waits for.
pub(super) fn files_of(state: &State, id: &TaskId) -> Option<String> {
    let Some(number) = awaited(state, id).into_iter().next() else { return behind(state, id) };
    let held = state.reservations.get(&number)?;
    Some(format!("waits for files of {} (reservation {number})", held.holder()))
}

/// The task before it that waits for the same files: it is not overtaken.
fn behind(state: &State, id: &TaskId) -> Option<String> {
    let task = state.task(id).filter(|_| !state.reservations.is_empty())?;
    let mine = Some(wanted(state, task)).filter(|mine| !mine.is_empty())?;
    let of_task = |number: &u64| state.reservations.get(number).is_some_and(|one| one.task.is_some());
    let mut before = state.index.queue().take(ASKED_MAX).take_while(|other| *other != id);
    let first = before.find(|other| {
        let awaited = awaited(state, other);
        let overlaps = || state.task(other).is_some_and(|task| wanted(state, task).overlaps(mine));
        !awaited.is_empty() && awaited.iter().all(of_task) && overlaps()
    })?;
    Some(format!("waits behind task {first}, which waits for the same files"))
}

/// The reservations that a task of the queue waits for.
fn awaited(state: &State, id: &TaskId) -> Vec<u64> {
    let waits = |task: &&Task| crate::reservations::waits(state, task);
    let Some(task) = state.task(id).filter(waits) else { return vec![] };
    in_the_way(state, Some(id), wanted(state, task)).collect()
}
