//! The writer thread: many submitters, one write and one sync for all that wait.
//!
//! There is no timer. While one group is being synced the next one gathers, so the batch size is
//! set by the disk: a lone append is written at once, a crowd shares a sync. A lone appender that
//! waits for its answer anyway writes on its own thread, which spares it the way to another and back.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::appender::Appender;
use crate::batch::{AppendError, Assigned, Batch, Committed, Done, Head};
use crate::claim::Claim;
use crate::finding::Finding;
use crate::intake::{Intake, Pending, Room};
use crate::open_error::OpenError;
use crate::recovered::Recovered;
use crate::writer::LedgerWriter;

/// How often the path is compared with the open file, at most.
const PATH_CHECK_EVERY: Duration = Duration::from_secs(1);

/// A ledger open for appending, shared by any number of threads.
pub struct Ledger {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Held while a group is taken from the queue and written: one writer at a time, in their order.
    /// Always taken before `state`.
    pen: Mutex<Pen>,
    state: Mutex<State>,
    /// Something to write, to try, or to end.
    work: Condvar,
    /// Room in the queue.
    room: Condvar,
}

struct Pen {
    appender: Appender,
    path_checked: Instant,
}

struct State {
    intake: Intake,
    durable: Head,
    findings: Vec<Finding>,
    resume: Option<mpsc::Sender<Result<Room, AppendError>>>,
    closing: bool,
}

impl Ledger {
    /// Goes on behind a recovered ledger. The caller holds the locks since before the recovery.
    pub fn open(recovered: &Recovered) -> Result<(Self, Vec<Finding>), OpenError> {
        let (LedgerWriter { intake, appender }, findings) = LedgerWriter::open(recovered)?;
        let state = State {
            intake,
            durable: *appender.durable(),
            findings: Vec::new(),
            resume: None,
            closing: false,
        };
        let shared = Arc::new(Shared {
            pen: Mutex::new(Pen { appender, path_checked: Instant::now() }),
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
        });
        let for_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("ledger".into())
            .spawn(move || for_thread.run())
            .map_err(OpenError::io("start the writer of", &recovered.paths.main))?;
        Ok((Self { shared, thread: Some(thread) }, findings))
    }

    /// From now on nothing is written once this claim does not hold: the process must end then.
    pub fn write_only_while(&self, claim: Claim) {
        let mut pen = self.shared.pen.lock().unwrap_or_else(PoisonError::into_inner);
        pen.appender.write_only_while(claim);
    }

    /// Gives a batch its seqs, in the order of calls, and has it written. `done` is called by whoever
    /// writes it when the batch is durable or has failed.
    ///
    /// Blocks while the queue is full; never call it from inside a `done`.
    pub fn submit(&self, batch: Batch, done: Done) -> Result<Assigned, AppendError> {
        let assigned = self.admit(batch, done)?;
        self.shared.work.notify_one();
        Ok(assigned)
    }

    /// Appends and waits until the batch is durable.
    pub fn append(&self, batch: Batch) -> Result<Committed, AppendError> {
        let (answer, answered) = mpsc::channel();
        self.admit(batch, Box::new(move |result| drop(answer.send(result))))?;
        self.write_here();
        answered.recv().unwrap_or(Err(AppendError::Closed))
    }

    /// Writes what is queued on this thread, unless somebody is writing: for a caller that will wait
    /// for its answer and nothing else. The answers come as always.
    pub fn write_here(&self) {
        match self.shared.pen.try_lock() {
            Ok(mut pen) => self.shared.write_queued(&mut pen),
            Err(TryLockError::Poisoned(pen)) => self.shared.write_queued(&mut pen.into_inner()),
            // Whoever writes now may have taken its group before ours came.
            Err(TryLockError::WouldBlock) => self.shared.work.notify_one(),
        }
    }

    fn admit(&self, batch: Batch, done: Done) -> Result<Assigned, AppendError> {
        let mut state = self.shared.lock();
        while state.intake.is_full() && state.intake.ended().is_none() {
            // Others may have queued without waking the writer.
            self.shared.work.notify_one();
            state = self.shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.intake.admit(batch, done)
    }

    /// After `NoRoom`: asks the disk again. With `ReserveOnly` only emergency batches are taken.
    pub fn resume(&self) -> Result<Room, AppendError> {
        let (answer, answered) = mpsc::channel();
        let mut state = self.shared.lock();
        if let Some(error) = state.intake.ended() {
            return Err(error.clone());
        }
        state.resume = Some(answer);
        drop(state);
        self.shared.work.notify_one();
        answered.recv().unwrap_or(Err(AppendError::Closed))
    }

    /// The last durable record.
    pub fn head(&self) -> Head {
        self.shared.lock().durable
    }

    /// The last durable record once all that was queued is written or refused: nothing is on its way any more.
    pub fn settled(&self) -> Head {
        let mut pen = self.shared.pen.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.write_queued(&mut pen);
        drop(pen);
        self.head()
    }

    pub fn epoch(&self) -> u64 {
        self.shared.lock().intake.epoch()
    }

    /// Compares the whole second copy with the ledger and makes it anew from where it differs: rot in its middle, which
    /// nobody meets before the copy is needed. For a ledger that was walked from its first record.
    pub fn mend_copy(&self) -> Vec<Finding> {
        self.shared.pen.lock().unwrap_or_else(PoisonError::into_inner).appender.mend_copy()
    }

    pub fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.shared.lock().findings)
    }

    /// Writes what is queued and ends the thread. Dropping does the same.
    pub fn close(self) -> Head {
        let shared = self.shared.clone();
        drop(self);
        shared.lock().durable
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the writer has already been printed; there is nothing to add.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A `done` that panics ends the writer; what is in the state stays true.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let _guard = EndOnPanic(self);
        loop {
            let mut state = self.lock();
            while state.intake.is_empty() && state.resume.is_none() && !state.closing {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let closing = state.closing && state.intake.is_empty() && state.resume.is_none();
            let resume = state.resume.take();
            drop(state);
            if closing {
                return;
            }
            let mut pen = self.pen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(answer) = resume {
                let room = pen.appender.resume();
                if let Ok(room) = &room {
                    self.lock().intake.set_room(*room);
                }
                // Whoever asked may be gone; the room is known all the same.
                let _ = answer.send(room);
            }
            self.write_queued(&mut pen);
        }
    }

    /// Writes group after group until nothing is queued.
    fn write_queued(&self, pen: &mut Pen) {
        loop {
            let mut state = self.lock();
            if state.intake.is_empty() {
                return;
            }
            let group = state.intake.take_group();
            drop(state);
            self.room.notify_all();
            let mut checked = Ok(());
            if pen.path_checked.elapsed() >= PATH_CHECK_EVERY {
                checked = pen.appender.check_path();
                pen.path_checked = Instant::now();
            }
            // A failed check has ended the appender, which then answers the group with that error.
            let done = traced(&mut pen.appender, group).and(checked);
            self.settle(&mut pen.appender, done);
        }
    }

    fn settle(&self, appender: &mut Appender, done: Result<(), AppendError>) {
        let mut state = self.lock();
        state.durable = *appender.durable();
        let findings = appender.take_findings();
        state.findings.extend(findings);
        let Err(error) = done else { return };
        let refused = state.intake.fail(&error, appender.durable(), appender.epoch());
        drop(state);
        self.room.notify_all();
        refused.into_iter().for_each(|pending| (pending.done)(Err(error.clone())));
    }
}

/// Writes and syncs one group, and says how long that took.
fn traced(appender: &mut Appender, group: Vec<Pending>) -> Result<(), AppendError> {
    let (before, begun) = (*appender.durable(), Instant::now());
    let _span = tracing::debug_span!("sync", after_seq = before.seq, batches = group.len()).entered();
    let done = appender.commit(group);
    let now = appender.durable();
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    match &done {
        Ok(()) => tracing::debug!(seq = now.seq, bytes = now.end - before.end, ms, "durable"),
        Err(error) => tracing::warn!(%error, ms, "not durable"),
    }
    done
}

/// A writer that panics must not leave submitters waiting for ever.
struct EndOnPanic<'a>(&'a Shared);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        let (durable, epoch) = (state.durable, state.intake.epoch());
        let refused = state.intake.fail(&AppendError::Closed, &durable, epoch);
        state.resume = None;
        drop(state);
        self.0.room.notify_all();
        drop(refused);
    }
}
