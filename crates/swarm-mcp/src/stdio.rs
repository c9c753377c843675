//! The server on the pipes of a client: frames on stdout, nothing else.

use rmcp::RoleServer;
use rmcp::service::serve_directly;
use rmcp::transport::async_rw::AsyncRwTransport;

use crate::limits::FRAME_MAX;
use crate::server::Server;

/// Serves until the client closes our stdin. Without a handshake of its own: each request is answered by what it says
/// itself, so a client may begin with any of them.
pub async fn serve(server: Server) {
    let pipes = AsyncRwTransport::<RoleServer, _, _>::new_server(tokio::io::stdin(), tokio::io::stdout())
        .with_max_line_length(FRAME_MAX);
    let running = serve_directly(server, pipes, None);
    match running.waiting().await {
        Ok(reason) => tracing::info!(?reason, "the client has left"),
        Err(error) => tracing::warn!(%error, "ended"),
    }
}
