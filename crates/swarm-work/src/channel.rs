//! The daemon's end of the work channel: queues of frames, no sockets.
//!
//! `swarm-server` fills and empties these queues. Every queue has a bound; a peer that does not
//! read is dropped, and what it missed is said again when it comes back.

use std::future::Future;
use std::io;
use std::pin::Pin;

use swarm_protocol::channel::{Downward, Upward};
use tokio::sync::mpsc;

/// Frames that may wait for a peer to read them. A daemon has at most a handful of reports under
/// way, and of orders only the newest counts, so a longer queue means a peer that hangs.
pub const QUEUE_FRAMES: usize = 64;

/// The daemon's end of one connection. It is over when `incoming` is.
#[derive(Debug)]
pub struct Connection {
    pub outgoing: mpsc::Sender<Upward>,
    pub incoming: mpsc::Receiver<Downward>,
}

/// A connection in the making.
pub type Dialing = Pin<Box<dyn Future<Output = io::Result<Connection>> + Send>>;

/// The way from a daemon to whoever is the coordinator now.
pub trait Channel: Send + Sync {
    fn dial(&self) -> Dialing;
}
