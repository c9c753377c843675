//! The feed of records: each is made into bytes once and given to all who follow.
//!
//! The newest records are kept in a ring. A reader has only a position: while it keeps up it takes from the
//! ring; further back it reads pages of the ledger itself. So a reader costs no queue, a thousand slow
//! ones cost nothing but their connections, and between past and present there is no seam where a
//! record could be lost or come twice.

mod reader;

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use swarm_engine::feed::{Feed, Position};
use swarm_engine::records::{Record, RecordPage, Records};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::limits::{Limits, PAGE_BYTES};
use crate::sse;
pub use reader::Reader;

/// So few bytes at the end of the ledger were written a moment ago and are in memory: to read them takes less than
/// to have them read by another thread.
const WRITTEN_JUST_NOW: u64 = 16 * 1024;

/// News that may wait for a reader; who is slower misses some, and the next says it all anyway.
const NEWS_KEPT: usize = 256;

#[derive(Debug)]
pub struct Hub {
    pub feed: Feed,
    pub limits: Limits,
    ledger: PathBuf,
    ring: Mutex<Ring>,
    /// The last record in the ring.
    moved: watch::Sender<u64>,
    news: broadcast::Sender<Bytes>,
}

#[derive(Debug, Default)]
struct Ring {
    frames: VecDeque<(u64, Bytes)>,
    bytes: usize,
    /// The ring holds records up to here, the newest last.
    end: Position,
    readers: usize,
}

/// What a reader finds at its position.
#[derive(Debug)]
pub enum Found {
    Frames(Vec<Bytes>),
    /// There is nothing newer.
    UpToDate,
    /// The ring begins later: the ledger has to be read.
    Behind,
}

impl Hub {
    /// Begins to follow the feed; ends with the token.
    pub fn start(feed: Feed, ledger: PathBuf, limits: Limits, end: &CancellationToken) -> Arc<Self> {
        let hub = Arc::new(Self {
            feed,
            limits,
            ledger,
            ring: Mutex::default(),
            moved: watch::channel(0).0,
            news: broadcast::channel(NEWS_KEPT).0,
        });
        tokio::spawn(end.clone().run_until_cancelled_owned(follow_records(Arc::clone(&hub))));
        tokio::spawn(end.clone().run_until_cancelled_owned(follow_news(Arc::clone(&hub))));
        hub
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        let mut ring = self.ring();
        if ring.readers == 0 {
            // Nobody listened, so nothing was gathered: it begins here.
            *ring = Ring { end: self.feed.position(), ..Ring::default() };
        }
        ring.readers += 1;
        self.feed.meters.follows();
    }

    fn leave(&self) {
        let mut ring = self.ring();
        ring.readers -= 1;
        self.feed.meters.leaves();
        if ring.readers == 0 {
            *ring = Ring::default();
        }
    }

    /// Up to `most` frames from record `next` on.
    pub fn take(&self, next: u64, most: usize) -> Found {
        let ring = self.ring();
        if next > ring.end.seq {
            return Found::UpToDate;
        }
        match ring.frames.front() {
            Some((first, _)) if *first <= next => {
                let skip = usize::try_from(next - first).unwrap_or(usize::MAX);
                Found::Frames(
                    ring.frames.iter().skip(skip).take(most).map(|(_, frame)| frame.clone()).collect(),
                )
            }
            _ => Found::Behind,
        }
    }

    /// Records from the ledger: from the byte `at`, or from the record where no byte is known.
    pub async fn read(
        &self,
        from: u64,
        at: Option<u64>,
        records_max: usize,
    ) -> io::Result<(Position, RecordPage)> {
        let (ledger, position) = (self.ledger.clone(), self.feed.position());
        let few = at.is_some_and(|at| position.end.saturating_sub(at) <= WRITTEN_JUST_NOW);
        let read = move || {
            if position.seq == 0 {
                return Ok((position, RecordPage::default()));
            }
            let records = Records::open(&ledger, position)?;
            let at = at.map_or_else(|| records.find(from), Ok)?;
            Ok((position, records.page(at, records_max, PAGE_BYTES)?))
        };
        if few {
            return read();
        }
        let reading = tokio::task::spawn_blocking(read);
        reading.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
    }

    /// The id in the ledger's first record; none while there is no plan.
    pub async fn ledger_id(&self) -> io::Result<Option<String>> {
        let (_, page) = self.read(1, Some(0), 1).await?;
        let Some(first) = page.records.first() else { return Ok(None) };
        let record: serde_json::Value = serde_json::from_str(&first.text)?;
        Ok(record["data"]["ledgerId"].as_str().map(str::to_owned))
    }

    /// Puts what has become durable into the ring.
    async fn catch_up(&self) {
        loop {
            let (end, readers) = {
                let ring = self.ring();
                (ring.end, ring.readers)
            };
            if readers == 0 || end.seq >= self.feed.position().seq {
                return;
            }
            let read = self.read(end.seq + 1, Some(end.end), self.limits.ring_records).await;
            let mut ring = self.ring();
            match read {
                Ok((_, page)) if page.records.first().is_some_and(|first| first.seq == ring.end.seq + 1) => {
                    ring.push(page, &self.limits);
                }
                // Everybody left and somebody came meanwhile: the ring is a new one.
                Ok(_) if ring.end != end => {}
                // The readers will meet the same trouble in the ledger and say so.
                Ok(_) | Err(_) => {
                    let readers = ring.readers;
                    *ring = Ring { end: self.feed.position(), readers, ..Ring::default() };
                }
            }
            self.moved.send_replace(ring.end.seq);
        }
    }
}

impl Ring {
    fn push(&mut self, page: RecordPage, limits: &Limits) {
        for record in page.records {
            let frame = frame_of(&record);
            self.bytes += frame.len();
            self.end.seq = record.seq;
            self.frames.push_back((record.seq, frame));
            while self.frames.len() > limits.ring_records
                || (self.bytes > limits.ring_bytes && self.frames.len() > 1)
            {
                let oldest = self.frames.pop_front();
                self.bytes -= oldest.map_or(0, |(_, frame)| frame.len());
            }
        }
        self.end.end = page.at;
    }
}

fn frame_of(record: &Record) -> Bytes {
    sse::event(Some(record.seq), &record.kind, &record.text)
}

async fn follow_records(hub: Arc<Hub>) {
    let mut feed = hub.feed.clone();
    loop {
        hub.catch_up().await;
        if !feed.moved().await {
            return;
        }
    }
}

async fn follow_news(hub: Arc<Hub>) {
    let mut feed = hub.feed.clone();
    let mut since = 0;
    while feed.news().await {
        let (newest, news) = feed.news_since(since);
        since = newest;
        for latest in news {
            if let Ok(data) = serde_json::to_string(&latest) {
                // Nobody listens: fine.
                let _ = hub.news.send(sse::event(None, "agent", &data));
            }
        }
        // What changes meanwhile is told together, after this.
        tokio::time::sleep(hub.limits.news_every).await;
    }
}
