//! What waits to be sent to one page. A page that takes nothing for a while is cut off, with the record to resume at.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Messages that may wait.
const WAITING_MAX: usize = 8;

pub struct Outbox {
    queue: mpsc::Sender<String>,
    slow_after: Duration,
    next: AtomicU64,
    /// The page is too slow.
    pub cut: CancellationToken,
}

/// Nobody takes anything any more.
pub struct Closed;

impl Outbox {
    /// `next`: the record that is to be given next.
    pub fn new(next: u64, slow_after: Duration) -> (Arc<Self>, mpsc::Receiver<String>) {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let next = AtomicU64::new(next);
        (Arc::new(Self { queue, slow_after, next, cut: CancellationToken::new() }), waiting)
    }

    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    pub async fn push(&self, word: String) -> Result<(), Closed> {
        if self.cut.is_cancelled() {
            return Err(Closed);
        }
        match self.queue.send_timeout(word, self.slow_after).await {
            Ok(()) => Ok(()),
            Err(_) => {
                self.cut.cancel();
                Err(Closed)
            }
        }
    }

    /// The same for a record; where it was not taken, the page resumes with it.
    pub async fn push_record(&self, seq: u64, word: String) -> Result<(), Closed> {
        self.push(word).await?;
        self.next.store(seq + 1, Ordering::Release);
        Ok(())
    }
}
