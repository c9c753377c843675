//! The daemon's end of the work channel.

use std::path::PathBuf;

use swarm_engine::channel::{Channel, Connection, Dialing, QUEUE_FRAMES};
use swarm_protocol::channel::{Downward, FRAME_MAX, Upward};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use crate::frames::{FrameReader, write_frame};
use crate::socket;

/// Reaches whoever listens on the coordinator's socket now.
#[derive(Debug, Clone)]
pub struct SocketChannel {
    socket: PathBuf,
}

impl SocketChannel {
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }
}

impl Channel for SocketChannel {
    fn dial(&self) -> Dialing {
        let path = self.socket.clone();
        Box::pin(async move {
            let (from, to) = socket::connect(&path).await?.into_split();
            let (outgoing, queue) = mpsc::channel(QUEUE_FRAMES);
            let (heard, incoming) = mpsc::channel(QUEUE_FRAMES);
            tokio::spawn(write(queue, to));
            tokio::spawn(read(from, heard));
            Ok(Connection { outgoing, incoming })
        })
    }
}

async fn write(mut queue: mpsc::Receiver<Upward>, mut to: OwnedWriteHalf) {
    while let Some(frame) = queue.recv().await {
        if write_frame(&mut to, &frame, FRAME_MAX).await.is_err() {
            break;
        }
    }
    // The coordinator sees the end at once, and then so does our reader.
    let _ = to.shutdown().await;
}

async fn read(from: OwnedReadHalf, heard: mpsc::Sender<Downward>) {
    let mut frames = FrameReader::new(from);
    while let Ok(Some(frame)) = frames.next(FRAME_MAX).await {
        if heard.send(frame).await.is_err() {
            break;
        }
    }
}
