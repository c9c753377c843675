//! What is derived is kept fresh, but never in the way: after the answer, and at most every five
//! seconds where one process lives long.

use std::collections::BTreeSet;
use std::thread::JoinHandle;

use swarm_core::State;
use swarm_ledger::Head;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;

use super::error::StoreError;
use super::snapshot::{self, LossKey};
use super::writer::{Locks, Store};
use crate::notice::Notice;
use crate::paths::Paths;
use crate::projection;

/// A coordinator rewrites snapshot and projections at most so often.
const EVERY_MS: u64 = 5_000;
/// A single command leaves a snapshot only when the next one would have to replay more than this:
/// replaying a few hundred records takes as long as writing the state of a plan of a thousand tasks.
const TAIL_MAX: u64 = 250;

/// What has been decided since the derived files were written.
pub(super) struct Upkeep {
    projections_due: bool,
    /// Something was recorded, if only of a session: a projection names the last record when it was written.
    recorded: bool,
    exports_due: bool,
    /// Tasks that something happened to: those that a council judged have a file that says so.
    evidence_due: BTreeSet<TaskId>,
    snapshot_seq: u64,
    /// The snapshots on disk show records that are lost: one of what is there takes their place at the end.
    snapshot_lies: bool,
    written_at: Option<Timestamp>,
    /// Being written aside.
    writing: Option<JoinHandle<Written>>,
    /// The name a closed plan is archived under.
    pub archive: Option<String>,
}

impl Upkeep {
    pub fn new(snapshot_seq: u64, archive: Option<String>) -> Self {
        Self {
            projections_due: false,
            recorded: false,
            exports_due: false,
            evidence_due: BTreeSet::new(),
            snapshot_seq,
            snapshot_lies: false,
            written_at: None,
            writing: None,
            archive,
        }
    }

    pub fn note(&mut self, events: &[Event]) {
        self.recorded |= !events.is_empty();
        for event in events {
            self.projections_due |= event.is_plan_event() || event.task().is_some();
            self.exports_due |= is_for_export(event);
            self.evidence_due.extend(event.task().cloned());
            if let Event::PlanClosed { archive } = event {
                self.archive = Some(archive.clone());
            }
        }
    }

    pub fn plan_changed(&mut self) {
        self.projections_due = true;
    }

    pub fn snapshot_lies(&mut self) {
        (self.snapshot_lies, self.projections_due) = (true, true);
    }
}

impl Drop for Upkeep {
    /// Before the locks are given back: whoever gets them must be the only one who writes these files.
    fn drop(&mut self) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
    }
}

/// What is derived from one position of the ledger and is to be written.
struct Due {
    paths: Paths,
    head: Head,
    projections: bool,
    exports: bool,
    evidence: BTreeSet<TaskId>,
    snapshot: Option<SnapshotDue>,
}

struct SnapshotDue {
    ledger_id: String,
    losses: BTreeSet<LossKey>,
    /// What the file showed before.
    before: u64,
}

/// What came of it. A failure is told, and the next write tries again: nothing of this is truth.
struct Written {
    notices: Vec<Notice>,
    /// The snapshot was not written: the file still shows this.
    still_at: Option<u64>,
}

impl Due {
    fn write(&self, state: &State) -> Written {
        let Self { paths, head, .. } = self;
        let mut written = Written { notices: Vec::new(), still_at: None };
        if self.projections {
            written.notices.extend(projection::write(paths, state, head));
        }
        if self.exports {
            written.notices.extend(projection::write_exports(paths, state, head));
        }
        written.notices.extend(projection::write_evidence(paths, state, &self.evidence));
        if let Some(due) = &self.snapshot {
            let bytes = snapshot::encode(state, head, &due.ledger_id, &due.losses);
            if let Err(error) = snapshot::write(paths, &bytes) {
                let text =
                    format!("Cannot write {}: {error}; loading takes longer", paths.shown(&paths.snapshot));
                written.notices.push(Notice::new(text, ""));
                written.still_at = Some(due.before);
            }
        }
        written
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
    /// For a coordinator: writes what is due, at most every five seconds, never when nothing changed, and aside:
    /// nobody waits for it.
    pub fn maybe_snapshot(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let is_due = self.upkeep_due().is_some_and(|due| due <= now);
        if self.upkeep.writing.as_ref().is_some_and(|writing| !writing.is_finished()) {
            // A disk that is slow, or hangs: it is looked at again later, and keeps nobody awake until then.
            if is_due {
                self.upkeep.written_at = Some(now);
            }
            return Ok(());
        }
        self.take_written();
        let durable = self.head().is_some_and(|head| head.seq == self.state.seq);
        if durable && is_due {
            self.upkeep.written_at = Some(now);
            if let Some(due) = self.take_due(true)? {
                let state = self.state.clone();
                self.upkeep.writing = Some(std::thread::spawn(move || due.write(&state)));
            }
        }
        Ok(())
    }

    /// Waits for what is being written aside.
    pub fn take_written(&mut self) {
        let written = self.upkeep.writing.take().and_then(|writing| writing.join().ok());
        if let Some(written) = written {
            self.note_written(written);
        }
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
        self.upkeep.evidence_due.extend(self.state.tasks.keys().cloned());
        self.upkeep.snapshot_seq = 0;
        self.write_derived(true)
    }

    /// Ends the store: what is decided is durable, what is derived is fresh, a closed plan is archived,
    /// the locks are free. Gives what a person should know.
    pub fn finish(mut self) -> Result<Vec<Notice>, StoreError> {
        self.wait_durable()?;
        let lives_long = matches!(self.locks, Locks::Coordinator(_));
        let tail = self.state.seq.saturating_sub(self.upkeep.snapshot_seq);
        let lies = std::mem::take(&mut self.upkeep.snapshot_lies);
        // Not with each such record: nothing in the plan has changed. But at the end they are fresh.
        self.upkeep.projections_due |= self.upkeep.recorded;
        self.write_derived(lies || (lives_long && tail > 0) || tail > TAIL_MAX)?;
        self.finish_interrupted_close()?;
        Ok(self.take_notices())
    }

    /// Projections that do not show the present ledger are to be written; edited ones are kept aside.
    pub(super) fn check_projections(&mut self) {
        let Some(head) = self.head() else { return };
        let (fresh, notices) = projection::check(&self.paths, &head);
        self.notices.extend(notices);
        self.upkeep.projections_due |= !fresh;
        // Whoever was killed may not have come to it.
        if !fresh {
            let judged = self.state.tasks.iter().filter(|(_, task)| !task.council.is_empty());
            self.upkeep.evidence_due.extend(judged.map(|(id, _)| id.clone()));
        }
    }

    fn write_derived(&mut self, with_snapshot: bool) -> Result<(), StoreError> {
        self.take_written();
        if let Some(due) = self.take_due(with_snapshot)? {
            let written = due.write(&self.state);
            self.note_written(written);
        }
        Ok(())
    }

    /// What is to be written about the present state; from here on it counts as written.
    fn take_due(&mut self, with_snapshot: bool) -> Result<Option<Due>, StoreError> {
        let head = self.progress.wait_for(self.state.seq).map_err(StoreError::from_append)?;
        let Some(head) = head.filter(|head| head.seq == self.state.seq) else { return Ok(None) };
        // A closed plan is about to be archived: a snapshot would only look like its remains.
        let closed = self.state.plan.as_ref().is_some_and(|plan| plan.closed);
        let snapshot =
            (with_snapshot && !closed && self.upkeep.snapshot_seq < head.seq).then(|| SnapshotDue {
                ledger_id: self.ledger_id().unwrap_or_default().to_owned(),
                losses: self.losses.clone(),
                before: std::mem::replace(&mut self.upkeep.snapshot_seq, head.seq),
            });
        let projections = std::mem::take(&mut self.upkeep.projections_due);
        let exports = std::mem::take(&mut self.upkeep.exports_due);
        let evidence = std::mem::take(&mut self.upkeep.evidence_due);
        let any = projections || exports || !evidence.is_empty() || snapshot.is_some();
        Ok(any.then(|| Due { paths: self.paths.clone(), head, projections, exports, evidence, snapshot }))
    }

    fn note_written(&mut self, written: Written) {
        // A file that cannot be written is tried again and again; a person is told once.
        for notice in written.notices {
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        if let Some(seq) = written.still_at {
            self.upkeep.snapshot_seq = seq;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use swarm_protocol::command::{Command, Envelope, SaveKind};
    use swarm_protocol::ids::CommandId;
    use swarm_protocol::planfile;

    use super::*;
    use crate::store::{OpenOptions, Opened};

    /// With a plan that no derived file shows.
    fn store(dir: &Path) -> Store {
        let root = dir.join("repo");
        std::fs::create_dir_all(root.join(".git")).expect("a folder");
        let paths = Paths::new(&root, &root.join(".git"));
        let Ok(Opened::Writer(mut store)) = Store::open_writer(&paths, OpenOptions::new("test")) else {
            panic!("it is free");
        };
        let text = "# Ship it\n## Phase 1: Base\n- [ ] 1.1 First\n";
        let plan = planfile::parse("test", text.as_bytes()).expect("a plan");
        let (kind, source) = (SaveKind::Save, "test".into());
        let command = Command::SavePlan { plan, kind, source, reset_statuses: false, planning: None };
        let id = CommandId::new("save").expect("an id");
        let now = store.clock().now();
        store.submit_blocking(Envelope { id, by: "person:test".into(), command }, now).expect("saved");
        store
    }

    #[test]
    fn a_disk_that_hangs_at_a_snapshot_keeps_nobody_awake() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut store = store(dir.path());
        let (goes_on, hangs) = mpsc::channel::<()>();
        store.upkeep.writing = Some(std::thread::spawn(move || {
            let _ = hangs.recv();
            Written { notices: vec![], still_at: None }
        }));
        let now = store.clock().now();
        assert!(store.upkeep_due().is_some_and(|due| due <= now));
        store.maybe_snapshot(now).expect("nothing is written");
        assert_eq!(store.upkeep_due(), Some(now.plus_ms(EVERY_MS)));
        drop(goes_on);
    }

    #[test]
    fn a_file_that_can_never_be_written_is_told_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut store = store(dir.path());
        let before = store.notices.len();
        for _ in 0..3 {
            let notices = vec![Notice::new("Cannot write it", "")];
            store.note_written(Written { notices, still_at: Some(0) });
        }
        assert_eq!(store.notices.len(), before + 1);
    }
}
