//! The other end of the API: for one-shot commands, screens and whoever else asks a running coordinator.

mod exchange;
mod follow;
mod silence;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::response::Response as HttpResponse;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use swarm_protocol::api::{ApiError, CommandRequest, Delivery, ErrorBody, LogPage, Pong, Seen};
use swarm_protocol::channel::{REQUEST_MAX, Response};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::{AgentId, CommandId, RunId};
use swarm_protocol::oplog::PreviewView;

use exchange::{Asked, ask, pass};
pub use follow::{Event, Follow};
pub use silence::Silence;
use silence::falls_silent;

/// Long enough for a plan of 10,000 tasks on a slow disk; a coordinator that takes longer hangs.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens: there is no coordinator, or it has just ended.
    #[error("no coordinator is running")]
    Nobody,
    /// The command may or may not have been carried out: ask again with the same id.
    #[error("the coordinator ended before it answered")]
    Lost {
        #[source]
        source: io::Error,
    },
    /// It is there and does not move. What was sent may be carried out when it goes on: ask again with the same id.
    #[error("{0}")]
    Silent(Silence),
    #[error("the command is too large to be sent: {source}")]
    TooLarge { source: io::Error },
    #[error("cannot reach the coordinator at {path}: {source}")]
    Unreachable { path: String, source: io::Error },
    /// It was understood and not done: not a refusal of the core, but of the API.
    #[error("{}", error.message)]
    Denied { status: u16, error: ApiError },
    #[error("unexpected answer from the coordinator (another version?): {what}")]
    NotUnderstood { what: String },
}

/// A way to the coordinator. Holds no connection: each question makes its own, which on one host costs
/// less than to look whether an old one still lives.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
}

impl Client {
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }

    /// Whether a coordinator answers, and what we may do there.
    pub async fn ping(&self) -> Result<Pong, ClientError> {
        self.get("/v1/ping").await
    }

    /// Sends the command and waits for its answer, which comes after the ledger's sync.
    pub async fn command(&self, envelope: Envelope) -> Result<Response, ClientError> {
        let Envelope { id, by, command } = envelope;
        let body = serde_json::to_vec(&CommandRequest { id, by: Some(by), command })
            .map_err(|error| ClientError::NotUnderstood { what: error.to_string() })?;
        if body.len() > REQUEST_MAX {
            let text = format!("{} bytes, at most {REQUEST_MAX} can be sent", body.len());
            return Err(ClientError::TooLarge { source: io::Error::new(io::ErrorKind::FileTooLarge, text) });
        }
        let asked = Asked { body, ..Asked::new(Method::POST, "/v1/commands") };
        let (status, bytes) = self.ask(asked).await?;
        if status == StatusCode::OK {
            return match parse(&bytes)? {
                Delivery::Landed { answer } => Ok(Response::Answer(answer)),
                other => Err(ClientError::NotUnderstood { what: format!("{other:?}") }),
            };
        }
        match denied(status, &bytes)? {
            ClientError::Denied { error: ApiError { refusal: Some(refusal), .. }, .. } => {
                Ok(Response::Refused { refusal })
            }
            ClientError::Denied { error, .. } if error.kind == "world_failed" => {
                Ok(Response::Failed { text: error.message })
            }
            other => Err(other),
        }
    }

    /// What the command would do now. Nothing is changed by asking.
    pub async fn preview(&self, command: &Command) -> Result<PreviewView, ClientError> {
        let body = serde_json::to_vec(command)
            .map_err(|error| ClientError::NotUnderstood { what: error.to_string() })?;
        let (status, bytes) = self.ask(Asked { body, ..Asked::new(Method::POST, "/v1/preview") }).await?;
        if status != StatusCode::OK {
            return Err(denied(status, &bytes)?);
        }
        parse(&bytes)
    }

    /// What became of a command.
    pub async fn delivery(&self, id: &CommandId) -> Result<Delivery, ClientError> {
        self.get(&format!("/v1/commands/{id}")).await
    }

    /// Any route that answers with JSON.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let (status, bytes) = self.ask(Asked::new(Method::GET, path)).await?;
        if status != StatusCode::OK {
            return Err(denied(status, &bytes)?);
        }
        parse(&bytes)
    }

    /// Any route that takes JSON and answers with JSON.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| ClientError::NotUnderstood { what: error.to_string() })?;
        let (status, bytes) = self.ask(Asked { body, ..Asked::new(Method::POST, path) }).await?;
        if status != StatusCode::OK {
            return Err(denied(status, &bytes)?);
        }
        parse(&bytes)
    }

    /// Hands a request on as it is and gives the answer back while it still comes, a stream of events included.
    pub async fn pass(&self, request: Request<Body>) -> Result<HttpResponse, ClientError> {
        self.unless_silent(pass(&self.socket, request)).await
    }

    /// A view, `status` or `tasks/1.2`, now or at a record.
    pub async fn view<T: DeserializeOwned>(
        &self,
        name: &str,
        at: Option<u64>,
    ) -> Result<Seen<T>, ClientError> {
        let at = at.map(|at| format!("?at={at}")).unwrap_or_default();
        self.get(&format!("/v1/{name}{at}")).await
    }

    /// Every record from this one on (none: from now on), and news of agents. Resumes by itself.
    pub fn events(&self, from: Option<u64>) -> Follow {
        Follow::new(&self.socket, "/v1/events", from)
    }

    /// Lines of an agent's newest run from a byte on.
    pub async fn log(&self, agent: &AgentId, from: u64) -> Result<LogPage, ClientError> {
        self.get(&format!("/v1/agents/{agent}/log?from={from}")).await
    }

    /// The same of a run, and on as it grows. Resumes by itself; over when the run is.
    pub fn follow_log(&self, run: &RunId, from: u64) -> Follow {
        Follow::new(&self.socket, &format!("/v1/runs/{run}/log?follow=1"), Some(from))
    }

    async fn ask(&self, asked: Asked) -> Result<(StatusCode, Vec<u8>), ClientError> {
        self.unless_silent(ask(&self.socket, asked)).await
    }

    /// The answer, or within seconds that there will be none.
    async fn unless_silent<T>(
        &self,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let bounded = tokio::time::timeout(ANSWER_WITHIN, asked);
        tokio::select! {
            answered = bounded => match answered {
                Ok(answered) => answered,
                Err(_) => Err(ClientError::Lost { source: io::ErrorKind::TimedOut.into() }),
            },
            silence = falls_silent(&self.socket) => Err(ClientError::Silent(silence)),
        }
    }
}

/// Sends the command and waits for its answer, which comes after the ledger's sync.
pub async fn send_command(socket: &Path, envelope: Envelope) -> Result<Response, ClientError> {
    Client::new(socket).command(envelope).await
}

/// Whether a coordinator answers on this socket.
pub async fn ping(socket: &Path) -> Result<(), ClientError> {
    Client::new(socket).ping().await.map(drop)
}

fn parse<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(bytes).map_err(|error| ClientError::NotUnderstood { what: error.to_string() })
}

/// What an answer that is no success means; an error when it is not even that.
fn denied(status: StatusCode, bytes: &[u8]) -> Result<ClientError, ClientError> {
    let ErrorBody { error } = parse(bytes)
        .map_err(|_| ClientError::NotUnderstood { what: format!("status {status} without a reason") })?;
    if error.kind == "lost" {
        return Ok(ClientError::Lost { source: io::Error::other(error.message) });
    }
    Ok(ClientError::Denied { status: status.as_u16(), error })
}
