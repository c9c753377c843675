//! A followed journal, as messages of a page: some lines at once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::json;
use swarm_protocol::ids::RunId;
use swarm_server::sse::{Heard, Parser};

use super::outbox::{Closed, Outbox};
use crate::tail::Era;

/// A worktree that is set up first may take a while until its run prints anything.
const TRY_AGAIN: Duration = Duration::from_millis(250);
const TRIES_MAX: u32 = 240;

/// Bytes of lines in one message, about.
const TOGETHER: usize = 128 * 1024;

/// How a stream of lines ended.
#[derive(Debug, PartialEq, Eq)]
enum Stream {
    /// With its run.
    Over,
    /// It broke off, or there is no journal yet: there may be more.
    Broken,
}

/// Gives lines from a byte on, until the run is over or the page goes. A stream that breaks off is taken up where it was;
/// one that cannot be had any more is said to be lost, since nobody knows whether the run goes on.
pub async fn give(era: Arc<Era>, run: RunId, from: u64, outbox: Arc<Outbox>) {
    let (mut cursor, mut tries) = (from, 0);
    while tries < TRIES_MAX {
        let before = cursor;
        match follow(&era, &run, &mut cursor, &outbox).await {
            Err(Closed) => return,
            Ok(Stream::Over) => {
                let _ = outbox.push(json!({ "type": "log_end", "run": run }).to_string()).await;
                return;
            }
            Ok(Stream::Broken) => tokio::time::sleep(TRY_AGAIN).await,
        }
        tries = if cursor > before { 0 } else { tries + 1 };
    }
    let _ = outbox.push(json!({ "type": "log_lost", "run": run }).to_string()).await;
}

async fn follow(era: &Era, run: &RunId, cursor: &mut u64, outbox: &Outbox) -> Result<Stream, Closed> {
    let target = format!("/v1/runs/{run}/log?follow=1&from={cursor}");
    let request = Request::builder().uri(target).body(Body::empty()).map_err(|_| Closed)?;
    let response = era.api.answer(request).await;
    if response.status() != StatusCode::OK {
        return Ok(Stream::Broken);
    }
    let mut lines = Lines { run, text: String::new(), cursor: *cursor };
    let ended = pump(response.into_body(), &mut lines, outbox).await?;
    lines.send(outbox).await?;
    *cursor = lines.cursor;
    Ok(ended)
}

async fn pump(mut body: Body, lines: &mut Lines<'_>, outbox: &Outbox) -> Result<Stream, Closed> {
    let mut parser = Parser::default();
    loop {
        // What is there already goes out together; what comes later is not kept waiting.
        let frame = match lines.text.is_empty() {
            true => body.frame().await,
            false => match tokio::time::timeout(Duration::from_millis(20), body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    lines.send(outbox).await?;
                    continue;
                }
            },
        };
        let Some(Ok(frame)) = frame else { return Ok(Stream::Broken) };
        let Ok(bytes) = frame.into_data() else { continue };
        if !parser.push(&bytes) {
            return Ok(Stream::Broken);
        }
        while let Some(Heard { id, kind, data }) = parser.take() {
            match (id, kind.as_str()) {
                (Some(cursor), "line") => lines.add(&data, cursor),
                (None, "end") => return Ok(end(&data)),
                _ => {}
            }
            if lines.text.len() > TOGETHER {
                lines.send(outbox).await?;
            }
        }
    }
}

/// A journal that cannot be read ends its stream, too, and not its run.
fn end(data: &str) -> Stream {
    let said: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
    if said["over"] == true { Stream::Over } else { Stream::Broken }
}

struct Lines<'a> {
    run: &'a RunId,
    text: String,
    cursor: u64,
}

impl Lines<'_> {
    fn add(&mut self, line: &str, cursor: u64) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(line);
        self.cursor = cursor;
    }

    async fn send(&mut self, outbox: &Outbox) -> Result<(), Closed> {
        if self.text.is_empty() {
            return Ok(());
        }
        let (run, cursor, lines) = (json!(self.run), self.cursor, std::mem::take(&mut self.text));
        outbox.push(format!(r#"{{"type":"log","run":{run},"lines":[{lines}],"cursor":{cursor}}}"#)).await
    }
}

#[cfg(test)]
mod tests {
    use swarm_server::sse::event;

    use super::*;

    /// How a stream with one line and this end is taken, where the next one begins, and what the page was told.
    async fn taken(last: Option<&str>) -> (Stream, u64, usize) {
        let (outbox, mut told) = Outbox::new(1, Duration::from_secs(5));
        let mut bytes = event(Some(70), "line", "{}").to_vec();
        bytes.extend(last.into_iter().flat_map(|data| event(None, "end", data).to_vec()));
        let run = RunId::nth(1);
        let mut lines = Lines { run: &run, text: String::new(), cursor: 0 };
        let Ok(ended) = pump(Body::from(bytes), &mut lines, &outbox).await else { panic!("it is open") };
        assert!(lines.send(&outbox).await.is_ok());
        let mut words = 0;
        while told.try_recv().is_ok() {
            words += 1;
        }
        (ended, lines.cursor, words)
    }

    #[tokio::test]
    async fn only_the_end_of_a_run_is_told_as_its_end() {
        assert_eq!(taken(Some(r#"{"resume":70,"over":true}"#)).await, (Stream::Over, 70, 1));
        assert_eq!(taken(None).await, (Stream::Broken, 70, 1), "the stream broke off");
        let unread = r#"{"resume":70,"over":false,"why":"the journal cannot be read"}"#;
        assert_eq!(taken(Some(unread)).await, (Stream::Broken, 70, 1));
    }
}
