//! One-shot commands: ask the running coordinator.

use std::io;
use std::path::Path;
use std::time::Duration;

use swarm_protocol::channel::{REQUEST_MAX, Request, Response};
use swarm_protocol::command::Envelope;

use crate::frames::{FrameReader, write_frame};
use crate::socket;

/// Long enough for a plan of 10,000 tasks on a slow disk; a coordinator that takes longer hangs.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens: there is no coordinator, or it has just ended.
    #[error("no coordinator is running")]
    Nobody,
    /// The command may or may not have been carried out: ask again with the same id.
    #[error("the coordinator went away before it answered")]
    Lost {
        #[source]
        source: io::Error,
    },
    #[error("the command is too large to be sent: {source}")]
    TooLarge { source: io::Error },
    #[error("cannot reach the coordinator at {path}: {source}")]
    Unreachable { path: String, source: io::Error },
}

/// Sends the command and waits for its answer, which comes after the ledger's sync.
pub async fn send_command(socket: &Path, envelope: Envelope) -> Result<Response, ClientError> {
    ask(socket, Request::Command(envelope)).await
}

/// Whether a coordinator answers on this socket.
pub async fn ping(socket: &Path) -> Result<(), ClientError> {
    ask(socket, Request::Ping).await.map(|_| ())
}

async fn ask(path: &Path, request: Request) -> Result<Response, ClientError> {
    let stream = match socket::connect(path).await {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Err(ClientError::Nobody);
        }
        Err(source) => return Err(ClientError::Unreachable { path: path.display().to_string(), source }),
    };
    let (from, mut to) = stream.into_split();
    let exchange = async {
        write_frame(&mut to, &request, REQUEST_MAX).await?;
        FrameReader::new(from).next(REQUEST_MAX).await
    };
    match tokio::time::timeout(ANSWER_WITHIN, exchange).await {
        Ok(Ok(Some(response))) => Ok(response),
        Ok(Ok(None)) => Err(ClientError::Lost { source: io::ErrorKind::UnexpectedEof.into() }),
        Ok(Err(source)) if source.kind() == io::ErrorKind::FileTooLarge => {
            Err(ClientError::TooLarge { source })
        }
        Ok(Err(source)) => Err(ClientError::Lost { source }),
        Err(_) => Err(ClientError::Lost { source: io::ErrorKind::TimedOut.into() }),
    }
}
