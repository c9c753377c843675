//! One reader of the feed: first the past from the ledger, then the present from the ring.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::{Found, Hub, frame_of};
use crate::sse::{self, Gone, Outlet};

/// Frames taken from the ring, or records from the ledger, at once.
const AT_ONCE: usize = 64;

pub struct Reader {
    hub: Arc<Hub>,
    outlet: Outlet,
    /// The record to be given next.
    next: u64,
    /// Where `next` begins in the ledger, when it was read from there.
    at: Option<u64>,
    /// How long a piece of the last ones had to wait.
    waited: Duration,
}

/// Why a stream was ended by us.
enum Ended {
    Gone,
    /// It could not keep up.
    Cut,
    Unreadable(std::io::Error),
}

impl From<Gone> for Ended {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl Reader {
    pub fn new(hub: Arc<Hub>, outlet: Outlet, next: u64) -> Self {
        hub.enter();
        Self { hub, outlet, next, at: None, waited: Duration::ZERO }
    }

    /// Gives records until the reader goes, is too slow, or the coordinator ends.
    pub async fn run(mut self, end: CancellationToken) {
        let hub = Arc::clone(&self.hub);
        let (mut moved, mut news) = (hub.moved.subscribe(), hub.news.subscribe());
        let ended = tokio::select! {
            ended = self.give(&mut moved, &mut news) => ended,
            () = end.cancelled() => Ok(()),
        };
        let data = |why: &str| serde_json::json!({ "resume": self.next, "why": why }).to_string();
        let last = match ended {
            Ok(()) => sse::event(None, "end", &data("the coordinator has ended")),
            Err(Ended::Cut) => {
                hub.feed.meters.cut();
                sse::event(None, "cut", &data("you read more slowly than things happen"))
            }
            Err(Ended::Unreadable(error)) => {
                sse::event(None, "cut", &data(&format!("the ledger cannot be read: {error}")))
            }
            Err(Ended::Gone) => return,
        };
        let _ = self.outlet.send(last).await;
    }

    async fn give(
        &mut self,
        moved: &mut watch::Receiver<u64>,
        news: &mut broadcast::Receiver<axum::body::Bytes>,
    ) -> Result<(), Ended> {
        // The head of the answer goes out with the first piece: a client knows at once that it listens.
        self.outlet.send(sse::heartbeat()).await?;
        loop {
            moved.mark_unchanged();
            match self.hub.take(self.next, AT_ONCE) {
                Found::Frames(frames) => {
                    self.at = None;
                    self.waited = Duration::ZERO;
                    for frame in frames {
                        // The longest of them: the rest goes quickly once the reader reads again.
                        self.waited = self.waited.max(self.outlet.send(frame).await?);
                        self.next += 1;
                    }
                }
                Found::Behind if self.waited >= self.hub.limits.slow_after => return Err(Ended::Cut),
                Found::Behind => self.replay().await?,
                Found::UpToDate => {
                    self.at = None;
                    tokio::select! {
                        changed = moved.changed() => if changed.is_err() { return Ok(()) },
                        said = news.recv() => match said {
                            Ok(piece) => { self.outlet.send(piece).await?; }
                            Err(broadcast::error::RecvError::Lagged(_)) => {}
                            Err(broadcast::error::RecvError::Closed) => return Ok(()),
                        },
                        () = tokio::time::sleep(self.hub.limits.heartbeat) => {
                            self.outlet.send(sse::heartbeat()).await?;
                        }
                        () = self.outlet.gone() => return Err(Ended::Gone),
                    }
                }
            }
        }
    }

    /// One page of the past.
    async fn replay(&mut self) -> Result<(), Ended> {
        let (_, page) = self.hub.read(self.next, self.at, AT_ONCE).await.map_err(Ended::Unreadable)?;
        if page.records.first().is_none_or(|first| first.seq != self.next) {
            let text = format!("record {} is not where it should be", self.next);
            return Err(Ended::Unreadable(std::io::Error::other(text)));
        }
        self.at = Some(page.at);
        for record in page.records {
            // A page is no queue: who is slow here only keeps its own page.
            self.outlet.send(frame_of(&record)).await?;
            self.next += 1;
        }
        self.waited = Duration::ZERO;
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.hub.leave();
    }
}
