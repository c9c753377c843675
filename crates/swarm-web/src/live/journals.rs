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

/// Gives lines from a byte on, until the run is over or the page goes.
pub async fn give(era: Arc<Era>, run: RunId, from: u64, outbox: Arc<Outbox>) {
    for _ in 0..TRIES_MAX {
        match pump(&era, &run, from, &outbox).await {
            Err(Closed) => return,
            Ok(true) => break,
            Ok(false) => tokio::time::sleep(TRY_AGAIN).await,
        }
    }
    let _ = outbox.push(json!({ "type": "log_end", "run": run }).to_string()).await;
}

/// False when there is no journal yet.
async fn pump(era: &Era, run: &RunId, from: u64, outbox: &Outbox) -> Result<bool, Closed> {
    let target = format!("/v1/runs/{run}/log?follow=1&from={from}");
    let request = Request::builder().uri(target).body(Body::empty()).map_err(|_| Closed)?;
    let response = era.api.answer(request).await;
    if response.status() != StatusCode::OK {
        return Ok(false);
    }
    let (mut body, mut parser) = (response.into_body(), Parser::default());
    let mut lines = Lines { run, text: String::new(), cursor: from };
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
        let Some(Ok(frame)) = frame else { break };
        let Ok(bytes) = frame.into_data() else { continue };
        parser.push(&bytes);
        while let Some(Heard { id, kind, data }) = parser.take() {
            match (id, kind.as_str()) {
                (Some(cursor), "line") => lines.add(&data, cursor),
                (None, "end") => {
                    lines.send(outbox).await?;
                    return Ok(true);
                }
                _ => {}
            }
            if lines.text.len() > TOGETHER {
                lines.send(outbox).await?;
            }
        }
    }
    lines.send(outbox).await?;
    Ok(true)
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
