//! Waiting for the disk: a ticket for one batch, and how far the ledger is durable at all.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};

use swarm_ledger::{AppendError, Committed, Head};

/// Resolves when the batch is durable, or has failed.
pub struct Ticket(State);

enum State {
    Ready(Result<(), AppendError>),
    Waiting(mpsc::Receiver<Result<(), AppendError>>),
}

impl Ticket {
    pub(super) fn ready() -> Self {
        Self(State::Ready(Ok(())))
    }

    /// A ticket and the executor that resolves it.
    pub(super) fn open() -> (Self, Resolve) {
        let (sender, receiver) = mpsc::channel();
        let resolve: Resolve = Box::new(move |done| {
            // Whoever asked may be gone; the records are there all the same.
            let _ = sender.send(done.map(|_| ()));
        });
        (Self(State::Waiting(receiver)), resolve)
    }

    /// Blocks until the disk has it. A writer that ended without a word counts as closed.
    pub fn wait(self) -> Result<(), AppendError> {
        match self.0 {
            State::Ready(done) => done,
            State::Waiting(receiver) => receiver.recv().unwrap_or(Err(AppendError::Closed)),
        }
    }
}

/// Called once, on the writer's thread (or at once, by the first batch of a ledger): keep it short.
pub type Resolve = Box<dyn FnOnce(Result<Committed, AppendError>) + Send>;

/// The last durable record, shared with the writer's thread.
#[derive(Default)]
pub(super) struct Progress {
    inner: Mutex<Inner>,
    moved: Condvar,
}

#[derive(Default)]
struct Inner {
    durable: Option<Head>,
    failed: Option<AppendError>,
}

impl Progress {
    pub fn at(head: Option<Head>) -> Arc<Self> {
        Arc::new(Self { inner: Mutex::new(Inner { durable: head, failed: None }), moved: Condvar::new() })
    }

    pub fn note(&self, done: &Result<Committed, AppendError>) {
        let mut inner = self.lock();
        match done {
            Ok(committed) => inner.durable = Some(committed.head),
            Err(error) => inner.failed = Some(error.clone()),
        }
        self.moved.notify_all();
    }

    pub fn durable(&self) -> Option<Head> {
        self.lock().durable
    }

    pub fn failed(&self) -> Option<AppendError> {
        self.lock().failed.clone()
    }

    /// After the memory was loaded again.
    pub fn forget_failure(&self) {
        self.lock().failed = None;
    }

    /// Blocks until `seq` is durable or something has failed.
    pub fn wait_for(&self, seq: u64) -> Result<Option<Head>, AppendError> {
        let mut inner = self.lock();
        loop {
            if let Some(error) = &inner.failed {
                return Err(error.clone());
            }
            if inner.durable.map_or(0, |head| head.seq) >= seq {
                return Ok(inner.durable);
            }
            inner = self.moved.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
