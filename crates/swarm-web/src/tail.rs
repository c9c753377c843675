//! Follows the ledger once for all tabs: by the coordinator's feed while there is one, by the file where nobody
//! coordinates. What is told on is durable: the number comes from whoever writes, the bytes from the file.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use swarm_engine::feed::{Feed, FeedSource, Position};
use swarm_engine::paths::Paths;
use swarm_engine::records::Records;
use swarm_protocol::api::AgentNews;
use swarm_server::api::{LEDGER_HEADER, SEQ_HEADER};
use swarm_server::client::Client;
use swarm_server::ledger::{Ledger, beside};
use swarm_server::sse::{Heard, Parser};
use swarm_server::unattended::Unattended;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A feed that does not even show a heartbeat is dead.
const SILENT_AFTER: Duration = Duration::from_secs(60);

/// One ledger from its first record to the day that another takes its place.
pub struct Era {
    pub ledger: Option<String>,
    /// The API over this ledger, whether anybody coordinates or not.
    pub api: Unattended,
    source: FeedSource,
    feed: Feed,
    end: CancellationToken,
}

impl Era {
    pub fn position(&self) -> Position {
        self.feed.position()
    }
}

/// What is known of the swarm at any time.
#[derive(Clone)]
pub struct Tail {
    pub era: watch::Receiver<Arc<Era>>,
    /// Whether somebody coordinates.
    pub up: watch::Receiver<bool>,
}

impl Tail {
    /// Begins to follow; comes back when the ledger has been looked at once. Ends with the token.
    pub async fn start(
        paths: &Paths,
        ledger: Arc<dyn Ledger>,
        look_every: Duration,
        end: &CancellationToken,
    ) -> Self {
        let makes = Makes { paths: paths.clone(), ledger: Arc::clone(&ledger), end: end.clone() };
        let (era, eras) = watch::channel(Arc::new(makes.era(None, Position::default())));
        let (up, ups) = watch::channel(false);
        let client = Client::new(&paths.socket);
        let follower = Follower { makes, client, ledger, look_every, era, up };
        follower.look_at_file().await;
        tokio::spawn(end.clone().run_until_cancelled_owned(follower.run()));
        Self { era: eras, up: ups }
    }
}

/// What an era is made of.
struct Makes {
    paths: Paths,
    ledger: Arc<dyn Ledger>,
    end: CancellationToken,
}

impl Makes {
    fn era(&self, ledger: Option<String>, position: Position) -> Era {
        let source = FeedSource::default();
        source.durable(position);
        let (feed, end) = (source.feed(), self.end.child_token());
        let limits = swarm_server::limits::Limits::default();
        let api = Unattended::new(&self.paths, Arc::clone(&self.ledger), feed.clone(), limits, &end);
        Era { ledger, api, source, feed, end }
    }
}

struct Follower {
    makes: Makes,
    client: Client,
    ledger: Arc<dyn Ledger>,
    look_every: Duration,
    era: watch::Sender<Arc<Era>>,
    up: watch::Sender<bool>,
}

/// Another ledger is there than the one that was followed, or one where there was none.
struct Another;

impl Follower {
    async fn run(self) {
        loop {
            if let Some(response) = self.connect().await {
                self.up.send_if_modified(|up| !std::mem::replace(up, true));
                self.pump(response).await;
                // Whoever hangs up at once is not asked again at once.
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
            self.up.send_if_modified(|up| std::mem::replace(up, false));
            self.watch_file().await;
        }
    }

    fn now(&self) -> Arc<Era> {
        Arc::clone(&self.era.borrow())
    }

    fn begin(&self, ledger: Option<String>, position: Position) {
        let old = self.era.send_replace(Arc::new(self.makes.era(ledger, position)));
        old.end.cancel();
    }

    /// The coordinator's feed from where we are; none where nobody answers.
    async fn connect(&self) -> Option<Response> {
        let era = self.now();
        let resume = match &era.ledger {
            Some(id) => format!("/v1/events?from={}&ledger={id}", era.position().seq + 1),
            None => "/v1/events".to_owned(),
        };
        let mut response = self.ask(&resume).await?;
        if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::CONFLICT) {
            response = self.ask("/v1/events").await?;
        }
        if response.status() != StatusCode::OK {
            return None;
        }
        let ledger = said(&response, LEDGER_HEADER);
        let last: u64 = said(&response, SEQ_HEADER).and_then(|seq| seq.parse().ok()).unwrap_or(0);
        // A repaired ledger has its records in other places, and a new one has others altogether.
        let seq = if ledger == era.ledger { era.position().seq.min(last) } else { last };
        let position = self.place_of(seq).await.ok()?;
        if ledger != era.ledger || position.seq < era.position().seq {
            self.begin(ledger, position);
        } else {
            era.source.durable(position);
        }
        Some(response)
    }

    async fn ask(&self, path: &str) -> Option<Response> {
        let request = Request::builder().uri(path).header("host", "swarm").body(Body::empty()).ok()?;
        self.client.pass(request).await.ok()
    }

    /// Where a durable record ends in the file.
    async fn place_of(&self, seq: u64) -> io::Result<Position> {
        let path = self.makes.paths.ledger.clone();
        let reading = tokio::task::spawn_blocking(move || place_in(&path, seq));
        reading.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
    }

    /// Tells on what the coordinator tells, until it stops.
    async fn pump(&self, response: Response) {
        let (mut body, mut parser) = (response.into_body(), Parser::default());
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(SILENT_AFTER, body.frame()).await {
            let Ok(bytes) = frame.into_data() else { continue };
            if !parser.push(&bytes) {
                return;
            }
            let heard: Vec<Heard> = std::iter::from_fn(|| parser.take()).collect();
            if self.tell(heard).await.is_err() {
                return;
            }
        }
    }

    async fn tell(&self, heard: Vec<Heard>) -> Result<(), Another> {
        let era = self.now();
        if let Some(newest) = heard.iter().filter_map(|heard| heard.id).max() {
            if era.ledger.is_none() {
                return Err(Another);
            }
            let known = era.position();
            if newest > known.seq {
                let path = self.makes.paths.ledger.clone();
                let reading = tokio::task::spawn_blocking(move || further(&path, known, newest));
                let position = reading.await.map_err(|_| Another)?.map_err(|_| Another)?;
                era.source.durable(position);
            }
        }
        for news in heard.iter().filter(|heard| heard.kind == "agent") {
            if let Ok(news) = serde_json::from_str::<AgentNews>(&news.data) {
                era.source.heard(&news.run.clone(), || news.clone(), |latest| *latest = news.clone());
            }
        }
        Ok(())
    }

    /// Until it is time to look for a coordinator again.
    async fn watch_file(&self) {
        let ledger = Arc::clone(&self.ledger);
        let mut changed = tokio::task::spawn_blocking(move || ledger.changed());
        self.look_at_file().await;
        let client = &self.client;
        loop {
            tokio::select! {
                _ = &mut changed => return,
                () = tokio::time::sleep(self.look_every) => {
                    if client.ping().await.is_ok() {
                        return;
                    }
                }
            }
        }
    }

    async fn look_at_file(&self) {
        let found = beside(&self.ledger, |ledger| Ok(ledger.position())).await.ok().flatten();
        let (ledger, position) = match found {
            Some((ledger, position)) => (Some(ledger), position),
            None => (None, Position::default()),
        };
        let era = self.now();
        if ledger != era.ledger || position.seq < era.position().seq {
            self.begin(ledger, position);
        } else {
            era.source.durable(position);
        }
    }
}

fn said(response: &Response, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// The end of a record that is known to be durable.
fn place_in(ledger: &Path, seq: u64) -> io::Result<Position> {
    if seq == 0 {
        return Ok(Position::default());
    }
    let records = Records::open(ledger, Position { seq, end: std::fs::metadata(ledger)?.len() })?;
    let page = records.page(records.find(seq)?, 1, usize::MAX)?;
    match page.records.first() {
        Some(record) if record.seq == seq => Ok(Position { seq, end: page.at }),
        _ => Err(io::Error::other(format!("record {seq} is not where it should be"))),
    }
}

/// The same from a place that is known, which is near.
fn further(ledger: &Path, known: Position, seq: u64) -> io::Result<Position> {
    let records = Records::open(ledger, Position { seq, end: std::fs::metadata(ledger)?.len() })?;
    let mut at = known;
    while at.seq < seq {
        let most = usize::try_from(seq - at.seq).unwrap_or(usize::MAX).min(1000);
        let page = records.page(at.end, most, usize::MAX)?;
        let Some(last) = page.records.last() else {
            return Err(io::Error::other(format!("record {seq} is not there yet")));
        };
        at = Position { seq: last.seq, end: page.at };
    }
    Ok(at)
}
