//! Server-sent events: how they are written, how they are read, and the stream they go out on.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;

/// Pieces under way to one reader. What waits here is shared with all readers, so it costs a pointer.
const PIECES: usize = 8;

/// A comment that keeps the connection alive.
pub fn heartbeat() -> Bytes {
    Bytes::from_static(b": alive\n\n")
}

/// One event. The data is one line: JSON has no raw newline.
pub fn event(id: Option<u64>, kind: &str, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + kind.len() + 48);
    if let Some(id) = id {
        text.push_str(&format!("id: {id}\n"));
    }
    for piece in ["event: ", kind, "\ndata: ", data, "\n\n"] {
        text.push_str(piece);
    }
    text.into()
}

/// The writing end of a stream to one reader.
#[derive(Debug)]
pub struct Outlet {
    pieces: mpsc::Sender<Result<Bytes, Infallible>>,
    stall: Duration,
}

/// The reader has gone, or takes nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

impl Outlet {
    /// The outlet, and the answer that it fills.
    pub fn open(stall: Duration) -> (Self, Response) {
        let (pieces, queue) = mpsc::channel(PIECES);
        let mut response = Body::from_stream(ReceiverStream::new(queue)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        (Self { pieces, stall }, response)
    }

    /// Executors one piece over and says how long the reader let it wait.
    pub async fn send(&self, piece: Bytes) -> Result<Duration, Gone> {
        // Nearly always there is room: then neither a clock nor a wait is needed.
        let piece = match self.pieces.try_send(Ok(piece)) {
            Ok(()) => return Ok(Duration::ZERO),
            Err(mpsc::error::TrySendError::Full(piece)) => piece,
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(Gone),
        };
        let since = Instant::now();
        match tokio::time::timeout(self.stall, self.pieces.send(piece)).await {
            Ok(Ok(())) => Ok(since.elapsed()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// Resolves when the reader has gone.
    pub async fn gone(&self) {
        self.pieces.closed().await;
    }
}

/// One event as a client reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    pub id: Option<u64>,
    pub kind: String,
    pub data: String,
}

/// Puts events together from pieces of any size.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    event: Heard,
    /// Whole events not yet taken.
    ready: std::collections::VecDeque<Heard>,
}

/// Bytes of one line a client takes: the longest record and its frame fit.
const LINE_MAX: usize = 2 << 20;

impl Parser {
    /// Takes bytes in; false when they are no stream of events of ours.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + piece.len() > LINE_MAX {
                return false;
            }
            self.line.extend_from_slice(piece);
            if self.line.pop_if(|last| *last == b'\n').is_some() {
                let line = std::mem::take(&mut self.line);
                self.take_line(&String::from_utf8_lossy(&line));
            }
        }
        true
    }

    /// The next whole event.
    pub fn take(&mut self) -> Option<Heard> {
        self.ready.pop_front()
    }

    fn take_line(&mut self, line: &str) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            if self.event != Heard::default() {
                self.ready.push_back(std::mem::take(&mut self.event));
            }
        } else if let Some(id) = line.strip_prefix("id: ") {
            self.event.id = id.parse().ok();
        } else if let Some(kind) = line.strip_prefix("event: ") {
            self.event.kind = kind.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            self.event.data.push_str(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_however_it_is_cut() {
        let mut bytes = heartbeat().to_vec();
        bytes.extend_from_slice(&event(Some(7), "task_added", "{\"a\":\"ä\"}"));
        bytes.extend_from_slice(&heartbeat());
        bytes.extend_from_slice(&event(None, "agent", "{}"));
        for size in [1, 2, 3, 1000] {
            let mut parser = Parser::default();
            assert!(bytes.chunks(size).all(|piece| parser.push(piece)));
            let heard: Vec<Heard> = std::iter::from_fn(|| parser.take()).collect();
            let first = Heard { id: Some(7), kind: "task_added".into(), data: "{\"a\":\"ä\"}".into() };
            let second = Heard { id: None, kind: "agent".into(), data: "{}".into() };
            assert_eq!(heard, [first, second]);
        }
        assert!(!Parser::default().push(&vec![b'x'; LINE_MAX + 1]));
    }
}
