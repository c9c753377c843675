//! A stream of events that outlives its connections: where one ends, the next goes on behind the last id.

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::{Method, StatusCode};

use super::exchange::{Asked, Opened, open};
use super::{ClientError, denied};
use crate::sse::{Heard, Parser};

/// Between two tries to reach a coordinator that is between an end and a start.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// After this without anybody there the caller is told; it may go on asking.
const NOBODY_AFTER: Duration = Duration::from_secs(5);

/// A stream that does not even show a heartbeat is dead.
const SILENT_AFTER: Duration = Duration::from_secs(60);

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The record's number or the line's cursor; none for news.
    pub id: Option<u64>,
    /// The record's type, `agent`, `line`.
    pub kind: String,
    /// One JSON value.
    pub data: String,
}

pub struct Follow {
    socket: PathBuf,
    path: String,
    from: Option<u64>,
    /// The last id that was given on.
    seen: Option<u64>,
    /// Whose records these are: after the close of a plan the numbers begin anew, and the caller is told.
    ledger: Option<String>,
    current: Option<(Opened, Parser)>,
    /// Before the next connection. One that says nothing and breaks off, as where the ledger cannot be read any further,
    /// would be made again and again without end.
    pause: Duration,
    /// The coordinator said that this stream is complete.
    over: bool,
}

impl Follow {
    pub(super) fn new(socket: &Path, path: &str, from: Option<u64>) -> Self {
        Self {
            socket: socket.to_owned(),
            path: path.to_owned(),
            from,
            seen: None,
            ledger: None,
            current: None,
            pause: Duration::ZERO,
            over: false,
        }
    }

    /// The last record or cursor that was given, to go on from later.
    pub fn seen(&self) -> Option<u64> {
        self.seen
    }

    /// Whose records these are, once that was said.
    pub fn ledger(&self) -> Option<&str> {
        self.ledger.as_deref()
    }

    /// The next event; none when a journal is complete. Cancelling it loses nothing.
    ///
    /// # Errors
    /// `Nobody` when there was no coordinator for a while; asking again tries again.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if self.over {
                return Ok(None);
            }
            let Some((opened, parser)) = &mut self.current else {
                if !self.pause.is_zero() {
                    tokio::time::sleep(self.pause).await;
                }
                let opened = self.connect().await?;
                self.pause = (self.pause * 2).clamp(PAUSE_FIRST, PAUSE_MAX);
                // Whoever begins at "now" resumes there too.
                self.from = self.from.or(opened.seq.map(|seq| seq + 1));
                self.ledger = self.ledger.take().or_else(|| opened.ledger.clone());
                self.current = Some((opened, Parser::default()));
                continue;
            };
            if let Some(heard) = parser.take() {
                if let Some(event) = self.take(heard) {
                    return Ok(Some(event));
                }
                continue;
            }
            match tokio::time::timeout(SILENT_AFTER, opened.next()).await {
                Ok(Ok(Some(bytes))) if parser.push(&bytes) => {}
                // Ended, broken, silent or not ours: a new connection goes on where this one was.
                _ => self.current = None,
            }
        }
    }

    fn take(&mut self, heard: Heard) -> Option<Event> {
        let Heard { id, kind, data } = heard;
        match (id, kind.as_str()) {
            (None, "cut") => self.current = None,
            // The end of the coordinator is not the end of the feed; the end of a run is that of its journal.
            (None, "end") if self.path.starts_with("/v1/events") => self.current = None,
            (None, "end") => self.over = true,
            _ => {
                self.seen = id.or(self.seen);
                self.pause = Duration::ZERO;
                return Some(Event { id, kind, data });
            }
        }
        None
    }

    async fn connect(&self) -> Result<Opened, ClientError> {
        let started = tokio::time::Instant::now();
        let mut pause = PAUSE_FIRST;
        loop {
            match self.open().await {
                Err(ClientError::Nobody | ClientError::Lost { .. }) if started.elapsed() < NOBODY_AFTER => {}
                Err(ClientError::Lost { .. }) => return Err(ClientError::Nobody),
                other => return other,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn open(&self) -> Result<Opened, ClientError> {
        let mut path = self.path.clone();
        let from = self.from.map(|from| ("from", from.to_string()));
        for (name, value) in from.into_iter().chain(self.ledger.clone().map(|id| ("ledger", id))) {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&format!("{name}={value}"));
        }
        let asked = Asked { last_event_id: self.seen, ..Asked::new(Method::GET, &path) };
        let mut opened = open(&self.socket, asked).await?;
        if opened.status == StatusCode::OK {
            return Ok(opened);
        }
        let mut bytes = Vec::new();
        while let Some(piece) = opened.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Err(denied(opened.status, &bytes)?)
    }
}
