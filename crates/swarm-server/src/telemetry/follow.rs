//! Reads the ledger as far as it is durable, makes spans of it, and sends those that have ended.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use swarm_engine::feed::{Feed, Position};
use swarm_engine::records::{Record, Records};
use swarm_engine::tool_spans::tools_in;
use swarm_engine::trace::{Span, Spans, request};
use swarm_protocol::config::Collector;
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;
use tokio_util::sync::CancellationToken;

use super::mark::Mark;
use super::send::{Sent, send};
use crate::limits::PAGE_BYTES;

/// Records that are read at once.
const PAGE_RECORDS: usize = 256;

/// Spans that go out together, and are held at most but for those that one record ends.
const BATCH_SPANS: usize = 128;

/// What happens meanwhile goes out together.
const LINGER: Duration = Duration::from_secs(1);

/// Pauses before a collector is asked again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(30);

pub struct Follower {
    collector: Collector,
    ledger: PathBuf,
    /// Where the journals are, and with them the calls of tools.
    agents: PathBuf,
    mark: Mark,
    feed: Feed,
    ending: CancellationToken,
    made: Made,
}

/// What was made of the records so far.
#[derive(Debug, Default)]
struct Made {
    spans: Spans,
    /// Records that were read, and the byte behind them.
    read: Position,
    /// Ended, and not taken yet.
    waiting: Vec<Span>,
}

impl Follower {
    pub fn new(
        collector: Collector,
        (ledger, agents): (PathBuf, PathBuf),
        mark: Mark,
        feed: Feed,
        ending: CancellationToken,
    ) -> Self {
        Self { collector, ledger, agents, mark, feed, ending, made: Made::default() }
    }

    /// Until the run ends, and then to the last record once.
    pub async fn follow(mut self) {
        loop {
            let last = self.ending.is_cancelled();
            if let Err(error) = self.catch_up().await {
                // The loop meets the same trouble and says what is to be done.
                tracing::warn!(%error, "cannot read the ledger for the collector");
            }
            if last {
                return;
            }
            tokio::select! {
                moved = self.feed.moved() => if !moved { self.ending.cancelled().await },
                () = self.ending.cancelled() => {}
            }
            tokio::select! {
                () = tokio::time::sleep(LINGER) => {}
                () = self.ending.cancelled() => {}
            }
        }
    }

    /// Everything that is durable now.
    async fn catch_up(&mut self) -> io::Result<()> {
        loop {
            let position = self.feed.position();
            if self.made.read.seq >= position.seq {
                return self.send_waiting().await;
            }
            let (ledger, agents) = (self.ledger.clone(), self.agents.clone());
            let mut made = std::mem::take(&mut self.made);
            let mark = self.mark.clone();
            let reading = tokio::task::spawn_blocking(move || {
                let read = made.read_page(&ledger, &agents, position, &mark);
                (made, read)
            });
            // On a panic everything is read anew.
            let (made, read) = reading.await.map_err(io::Error::other)?;
            self.made = made;
            read?;
            if self.made.waiting.len() >= BATCH_SPANS {
                self.send_waiting().await?;
            }
        }
    }

    async fn send_waiting(&mut self) -> io::Result<()> {
        let ledger = self.made.spans.ledger().to_owned();
        if self.made.waiting.is_empty() {
            return Ok(());
        }
        let mut pause = AGAIN_AFTER;
        for batch in self.made.waiting.chunks(BATCH_SPANS) {
            loop {
                let body = request(batch, &ledger, env!("CARGO_PKG_VERSION"));
                match send(&self.collector, body).await {
                    Sent::Taken => break,
                    Sent::Refused(why) => {
                        tracing::warn!(collector = %self.collector, why, spans = batch.len(), "refused spans");
                        break;
                    }
                    Sent::Later(why) => {
                        tracing::warn!(collector = %self.collector, why, "takes no spans now");
                    }
                }
                if self.ending.is_cancelled() {
                    return Ok(());
                }
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = self.ending.cancelled() => {}
                }
                pause = (pause * 2).min(AGAIN_MAX);
            }
        }
        self.made.waiting.clear();
        self.mark.set(&ledger, self.made.read.seq);
        Ok(())
    }
}

impl Made {
    fn read_page(&mut self, ledger: &Path, agents: &Path, position: Position, mark: &Mark) -> io::Result<()> {
        let records = Records::open(ledger, position)?;
        let page = records.page(self.read.end, PAGE_RECORDS, PAGE_BYTES)?;
        for record in &page.records {
            self.take(record, agents, mark);
        }
        self.read.end = page.at;
        Ok(())
    }

    /// A record of a newer program says nothing that we could send.
    fn take(&mut self, record: &Record, agents: &Path, mark: &Mark) {
        #[derive(Deserialize)]
        struct Moment {
            ts: Timestamp,
        }
        self.read.seq = record.seq;
        let text = &record.text;
        let body = text.find("\"type\":\"").zip(text.rfind('}')).map(|(from, to)| &text[from..to]);
        let event = body.and_then(|body| event_of(body.as_bytes()).ok());
        let (Some(event), Ok(Moment { ts })) = (event, serde_json::from_str(text)) else { return };
        let mut ended = Vec::new();
        self.spans.note(record.seq, &event, ts, &mut |span| ended.push(span));
        if record.seq > mark.of(self.spans.ledger()) {
            for span in ended {
                self.waiting.extend(tools_in(agents, self.spans.ledger(), &span));
                self.waiting.push(span);
            }
        }
    }
}
