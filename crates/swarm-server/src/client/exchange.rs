//! One question and its answer over a connection of their own.

use std::io;
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use swarm_protocol::channel::REQUEST_MAX;

use super::ClientError;
use crate::api::{LEDGER_HEADER, SEQ_HEADER};
use crate::socket;

pub struct Asked {
    pub method: Method,
    pub path: String,
    pub body: Vec<u8>,
    /// Where a stream is to resume.
    pub last_event_id: Option<u64>,
}

impl Asked {
    pub fn new(method: Method, path: &str) -> Self {
        Self { method, path: path.to_owned(), body: Vec::new(), last_event_id: None }
    }

    fn request(self) -> Result<Request<Body>, axum::http::Error> {
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path)
            .header(header::HOST, "swarm")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(id) = self.last_event_id {
            request = request.header("last-event-id", id);
        }
        request.body(Body::from(Bytes::from(self.body)))
    }
}

/// Asks and reads the whole answer.
pub async fn ask(path: &Path, asked: Asked) -> Result<(StatusCode, Vec<u8>), ClientError> {
    let mut opened = open(path, asked).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = opened.next().await? {
        if bytes.len() + piece.len() > REQUEST_MAX {
            return Err(ClientError::NotUnderstood { what: format!("more than {REQUEST_MAX} bytes") });
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((opened.status, bytes))
}

/// An answer whose body is still coming. The connection ends with it.
pub struct Opened {
    pub status: StatusCode,
    /// The last record that the coordinator knew of.
    pub seq: Option<u64>,
    /// The ledger that a feed is of.
    pub ledger: Option<String>,
    body: Incoming,
    driver: tokio::task::JoinHandle<()>,
}

/// Nothing was asked yet: one that ends while we wait in its queue is as one that was never there.
fn has_just_ended(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotConnected, NotFound};
    matches!(kind, NotFound | ConnectionRefused | ConnectionReset | BrokenPipe | NotConnected)
}

/// Sends a request; the connection lives as long as the task that drives it.
async fn send(
    path: &Path,
    request: Request<Body>,
) -> Result<(Response<Incoming>, tokio::task::JoinHandle<()>), ClientError> {
    let stream = match socket::connect(path).await {
        Ok(stream) => stream,
        Err(error) if has_just_ended(error.kind()) => return Err(ClientError::Nobody),
        Err(source) => return Err(ClientError::Unreachable { path: path.display().to_string(), source }),
    };
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let driver = tokio::spawn(async move { drop(connection.await) });
    match sender.send_request(request).await {
        Ok(response) => Ok((response, driver)),
        Err(error) => {
            driver.abort();
            Err(lost(error))
        }
    }
}

pub async fn open(path: &Path, asked: Asked) -> Result<Opened, ClientError> {
    let request = asked.request().map_err(|error| ClientError::NotUnderstood { what: error.to_string() })?;
    let (response, driver) = send(path, request).await?;
    let (head, body) = response.into_parts();
    let seq = head.headers.get(SEQ_HEADER).and_then(|seq| seq.to_str().ok()?.parse().ok());
    let ledger = head.headers.get(LEDGER_HEADER).and_then(|id| Some(id.to_str().ok()?.to_owned()));
    Ok(Opened { status: head.status, seq, ledger, body, driver })
}

/// The answer with its body still coming; the connection ends when the body is dropped or complete.
pub async fn pass(path: &Path, request: Request<Body>) -> Result<Response<Body>, ClientError> {
    let (response, _driver) = send(path, request).await?;
    Ok(response.map(Body::new))
}

impl Opened {
    /// The next piece; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(lost(error)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => return Ok(Some(bytes)),
                    Err(_trailers) => {}
                },
            }
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn lost(error: hyper::Error) -> ClientError {
    ClientError::Lost { source: io::Error::other(error) }
}
