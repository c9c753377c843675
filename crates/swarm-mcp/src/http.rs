//! One message of a client that comes by HTTP, and its answer. The server is made for it and gone after it, so nothing is
//! kept, and both eras are answered alike: a handshake only says which version the client speaks.

use std::time::Duration;

use rmcp::service::serve_directly;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tokio::sync::mpsc::Sender;

use crate::frames::{self, Looked};
use crate::hello::VERSIONS;
use crate::limits::{ANSWER_WITHIN, FRAME_MAX, WAIT_MAX};

/// A call has its own limits, and they are shorter.
const WITHIN: Duration = WAIT_MAX.saturating_add(ANSWER_WITHIN).saturating_add(Duration::from_secs(5));

const BETWEEN: usize = 64 << 10;

const NO_REQUEST: i64 = -32_600;
const BROKE: i64 = -32_603;

/// What comes of one message.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It wants no answer.
    Accepted,
    Json(String),
    /// It is no request.
    Bad(String),
}

/// Whether the message asks to be told on the way how things go. Only then there is something to stream.
pub fn asks_for_words(message: &[u8]) -> bool {
    serde_json::from_slice::<Value>(message)
        .is_ok_and(|asked| !asked["params"]["_meta"]["progressToken"].is_null() && !asked["id"].is_null())
}

/// `on_the_way`: who takes what the server says before its answer; none: it is not asked for, or nobody listens.
pub async fn answer(
    server: impl ServerHandler,
    version: Option<&str>,
    message: &[u8],
    on_the_way: Option<Sender<String>>,
) -> Answer {
    let refused = |id: Value, code, why: &str| frames::refused(id, code, why).to_string();
    if let Some(version) = version.filter(|version| VERSIONS.iter().all(|known| known.as_str() != *version)) {
        return Answer::Bad(refused(
            Value::Null,
            NO_REQUEST,
            &format!("The version {version:?} is not supported"),
        ));
    }
    match frames::looked_at(message) {
        Looked::Nothing => return Answer::Bad(refused(Value::Null, NO_REQUEST, "There is no message")),
        Looked::Answer(told) => return Answer::Bad(told.to_string()),
        Looked::Message => {}
    }
    let asked: Value = serde_json::from_slice(message).unwrap_or_default();
    let id = asked["id"].clone();
    // Of what is only told nothing could be kept.
    if id.is_null() || asked["method"].as_str().is_none() {
        return Answer::Accepted;
    }
    match tokio::time::timeout(WITHIN, exchange(server, &asked, &id, on_the_way)).await {
        Ok(Some(answer)) => Answer::Json(answer),
        Ok(None) | Err(_) => Answer::Json(refused(id, BROKE, "There was no answer")),
    }
}

async fn exchange(
    server: impl ServerHandler,
    asked: &Value,
    id: &Value,
    on_the_way: Option<Sender<String>>,
) -> Option<String> {
    let (mut ours, from_client) = duplex(BETWEEN);
    let (to_client, from_server) = duplex(BETWEEN);
    let pipes = AsyncRwTransport::<RoleServer, _, _>::new_server(from_client, to_client)
        .with_max_line_length(FRAME_MAX);
    let _running = serve_directly(server, pipes, None);
    let line = format!("{asked}\n");
    let saying = async {
        let _ = ours.write_all(line.as_bytes()).await;
        let _ = ours.flush().await;
    };
    let mut lines = BufReader::new(from_server).lines();
    let hearing = async {
        while let Ok(Some(line)) = lines.next_line().await {
            let frame: Value = serde_json::from_str(&line).unwrap_or_else(|_| json!({}));
            if frame["id"] == *id && frame.get("method").is_none() {
                return Some(line);
            }
            // One that does not keep up misses words, never the answer.
            if let Some(listener) = on_the_way.as_ref().filter(|_| frame.get("id").is_none()) {
                let _ = listener.try_send(line);
            }
        }
        None
    };
    tokio::join!(saying, hearing).1
}
