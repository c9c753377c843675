//! Records and news out of the feed of the door, as messages of a page.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use swarm_server::sse::{Heard, Parser};

use super::outbox::{Closed, Outbox};
use crate::tail::Era;

/// Gives everything from the outbox' next record on, until the page goes. The feed may cut us where the page is slow;
/// then it goes on behind the last record that was given.
pub async fn give(era: Arc<Era>, outbox: Arc<Outbox>) {
    while pump(&era, &outbox).await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn pump(era: &Era, outbox: &Outbox) -> Result<(), Closed> {
    let request = Request::builder().uri(format!("/v1/events?from={}", outbox.next())).body(Body::empty());
    let response = era.api.answer(request.map_err(|_| Closed)?).await;
    let (mut body, mut parser) = (response.into_body(), Parser::default());
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        parser.push(&bytes);
        while let Some(heard) = parser.take() {
            tell(heard, outbox).await?;
        }
    }
    Ok(())
}

async fn tell(heard: Heard, outbox: &Outbox) -> Result<(), Closed> {
    let Heard { id, kind, data } = heard;
    match id {
        Some(seq) => {
            let kind = Value::String(kind);
            let word = format!(r#"{{"type":"record","seq":{seq},"event":{kind},"record":{data}}}"#);
            outbox.push_record(seq, word).await
        }
        None if kind == "agent" => outbox.push(format!(r#"{{"type":"agent","news":{data}}}"#)).await,
        None => Ok(()),
    }
}
