//! The server on the pipes of a client: frames on stdout, nothing else.

use rmcp::service::serve_directly;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler};
use tokio::io::{duplex, stdin, stdout};
use tokio::sync::mpsc::channel;

use crate::frames;
use crate::limits::FRAME_MAX;

/// Bytes between us and the protocol: whoever is quicker waits.
const BETWEEN: usize = 64 << 10;

/// Serves until the client closes our stdin. Without a handshake of its own: each request is answered by what it says
/// itself, so a client may begin with any of them.
pub async fn serve(server: impl ServerHandler) {
    let (ours, from_client) = duplex(BETWEEN);
    let (to_client, from_server) = duplex(BETWEEN);
    let (answers, waiting) = channel(16);
    let reading = tokio::spawn(frames::read(stdin(), ours, answers));
    let writing = tokio::spawn(frames::write(from_server, waiting, stdout()));
    let pipes = AsyncRwTransport::<RoleServer, _, _>::new_server(from_client, to_client)
        .with_max_line_length(FRAME_MAX);
    let running = serve_directly(server, pipes, None);
    match running.waiting().await {
        Ok(reason) => tracing::info!(?reason, "the client has left"),
        Err(error) => tracing::warn!(%error, "ended"),
    }
    reading.abort();
    if let Ok(Err(error)) = writing.await {
        tracing::warn!(%error, "the client does not read");
    }
}
