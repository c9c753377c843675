//! Events of reservations: granted, released, waited for.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::reservation::Reservation;
use swarm_protocol::time::Timestamp;

use crate::state::State;

impl State {
    pub(super) fn apply_reservation(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::ReservationGranted { task, number, by, files, shared, secs, reason, beside } => {
                let reservation = Reservation {
                    task: task.clone(),
                    by: by.clone(),
                    files: files.clone(),
                    shared: shared.clone(),
                    reason: reason.clone(),
                    since: at,
                    secs: *secs,
                    beside: beside.clone(),
                };
                self.reservations_ever = self.reservations_ever.max(*number);
                self.reservations.insert(*number, reservation);
            }
            Event::ReservationReleased { number, .. } => {
                self.reservations.remove(number);
            }
            Event::MergeHeld { task, reservations, why, .. } => {
                self.release(task);
                self.change(task, |t| {
                    t.held_by.clone_from(reservations);
                    t.put_off = Some(why.clone());
                });
                self.approve_again(task, Timestamp::ZERO, None);
            }
            Event::ReservationPassed { .. } => {}
            _ => return false,
        }
        true
    }

    /// Nobody works under it any more: its time begins.
    pub(super) fn reservation_left_alone(&mut self, task: &TaskId, at: Timestamp) {
        let of_task = |reservation: &&mut Reservation| reservation.task.as_ref() == Some(task);
        self.reservations.values_mut().filter(of_task).for_each(|reservation| reservation.since = at);
    }
}
