//! What is derived is kept fresh, but never in the way: after the answer, and at most every five
//! seconds where one process lives long.

use swarm_ledger::Head;
use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use super::error::{Notice, StoreError};
use super::snapshot;
use super::writer::{Locks, Store};
use crate::projection;

/// A coordinator rewrites snapshot and projections at most so often.
const EVERY_MS: u64 = 5_000;
/// A single command leaves a snapshot only when the next one would have to replay more than this:
/// replaying a few hundred records takes as long as writing the state of a plan of a thousand tasks.
const TAIL_MAX: u64 = 250;

/// What has been decided since the derived files were written.
pub(super) struct Upkeep {
    projections_due: bool,
    exports_due: bool,
    snapshot_seq: u64,
    written_at: Option<Timestamp>,
    /// The name a closed plan is archived under.
    pub archive: Option<String>,
}

impl Upkeep {
    pub fn new(snapshot_seq: u64, archive: Option<String>) -> Self {
        Self { projections_due: false, exports_due: false, snapshot_seq, written_at: None, archive }
    }

    pub fn note(&mut self, events: &[Event]) {
        for event in events {
            self.projections_due |= event.is_plan_event() || event.task().is_some();
            self.exports_due |= is_for_export(event);
            if let Event::PlanClosed { archive } = event {
                self.archive = Some(archive.clone());
            }
        }
    }

    pub fn plan_changed(&mut self) {
        self.projections_due = true;
    }
}

/// Exports are written on save, phase completion and close.
fn is_for_export(event: &Event) -> bool {
    match event {
        Event::PhaseCompleted { .. } | Event::PlanClosed { .. } => true,
        Event::Operation { kind, .. } => {
            matches!(kind.as_str(), "plan save" | "plan import" | "plan migrate" | "plan reset")
        }
        _ => false,
    }
}

impl Store {
    /// For a coordinator: writes what is due, at most every five seconds, never when nothing changed.
    pub fn maybe_snapshot(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.upkeep_due().is_some_and(|due| due <= now) {
            self.write_derived(true)?;
            self.upkeep.written_at = Some(now);
        }
        Ok(())
    }

    /// When [`Store::maybe_snapshot`] has something to do; none while nothing changed.
    pub fn upkeep_due(&self) -> Option<Timestamp> {
        let changed = self.upkeep.projections_due || self.state.seq > self.upkeep.snapshot_seq;
        let next = self.upkeep.written_at.map_or(Timestamp::ZERO, |at| at.plus_ms(EVERY_MS));
        (changed && self.state.seq > 0).then_some(next)
    }

    /// Makes the snapshot and all projections anew now, whatever is there: at a checkpoint, or because
    /// a person asked for it.
    pub fn write_snapshot(&mut self) -> Result<(), StoreError> {
        self.upkeep.projections_due = true;
        self.upkeep.snapshot_seq = 0;
        self.write_derived(true)
    }

    /// Ends the store: what is decided is durable, what is derived is fresh, a closed plan is archived,
    /// the locks are free. Gives what a person should know.
    pub fn finish(mut self) -> Result<Vec<Notice>, StoreError> {
        self.wait_durable()?;
        let lives_long = matches!(self.locks, Locks::Coordinator(_));
        let tail = self.state.seq.saturating_sub(self.upkeep.snapshot_seq);
        self.write_derived((lives_long && tail > 0) || tail > TAIL_MAX)?;
        self.finish_interrupted_close()?;
        Ok(self.take_notices())
    }

    /// Projections that do not show the present ledger are to be written; edited ones are kept aside.
    pub(super) fn check_projections(&mut self) {
        let Some(head) = self.head() else { return };
        let (fresh, notices) = projection::check(&self.paths, &head);
        self.notices.extend(notices);
        self.upkeep.projections_due |= !fresh;
    }

    fn write_derived(&mut self, with_snapshot: bool) -> Result<(), StoreError> {
        let head = self.progress.wait_for(self.state.seq).map_err(StoreError::from_append)?;
        let Some(head) = head.filter(|head| head.seq == self.state.seq) else { return Ok(()) };
        // From here on nothing is truth: a failure is told, and the next write tries again.
        if std::mem::take(&mut self.upkeep.projections_due) {
            self.notices.extend(projection::write(&self.paths, &self.state, &head));
        }
        if std::mem::take(&mut self.upkeep.exports_due) {
            self.notices.extend(projection::write_exports(&self.paths, &self.state, &head));
        }
        // A closed plan is about to be archived: a snapshot would only look like its remains.
        let closed = self.state.plan.as_ref().is_some_and(|plan| plan.closed);
        if with_snapshot && !closed && self.upkeep.snapshot_seq < head.seq {
            self.write_state(&head);
        }
        Ok(())
    }

    fn write_state(&mut self, head: &Head) {
        let bytes = snapshot::encode(&self.state, head, self.ledger_id().unwrap_or_default(), &self.losses);
        match snapshot::write(&self.paths, &bytes) {
            Ok(()) => self.upkeep.snapshot_seq = head.seq,
            Err(error) => {
                let text = format!(
                    "Cannot write {}: {error}; loading takes longer",
                    self.paths.shown(&self.paths.snapshot)
                );
                self.notices.push(Notice::new(text, ""));
            }
        }
    }
}
