//! The daemon's end of the work channel.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use swarm_protocol::channel::{Downward, FRAME_MAX, Upward};
use swarm_work::channel::{Channel, Connection, Dialing, QUEUE_FRAMES};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use crate::api::{WORK_PATH, WORK_PROTOCOL};
use crate::frames::{FrameReader, write_frame};
use crate::socket;

/// Bytes of one line of the answer's head, and how many lines there may be.
const HEAD_LINE_MAX: usize = 4 * 1024;
const HEAD_LINES_MAX: usize = 64;

/// A coordinator that does not even answer hangs; the daemon tries again later.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

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
            let stream = socket::connect(&path).await?;
            let (frames, to) = tokio::time::timeout(ANSWER_WITHIN, upgrade(stream)).await??;
            let (outgoing, queue) = mpsc::channel(QUEUE_FRAMES);
            let (heard, incoming) = mpsc::channel(QUEUE_FRAMES);
            tokio::spawn(write(queue, to));
            tokio::spawn(read(frames, heard));
            Ok(Connection { outgoing, incoming })
        })
    }
}

/// Asks to go on in frames. Written by hand: a daemon needs no HTTP besides these two heads.
async fn upgrade(stream: UnixStream) -> io::Result<(FrameReader<OwnedReadHalf>, OwnedWriteHalf)> {
    let (from, mut to) = stream.into_split();
    let request = format!(
        "GET {WORK_PATH} HTTP/1.1\r\nHost: swarm\r\nConnection: Upgrade\r\nUpgrade: {WORK_PROTOCOL}\r\n\r\n"
    );
    to.write_all(request.as_bytes()).await?;
    let mut frames = FrameReader::new(from);
    let status = head_line(&mut frames).await?;
    for _ in 0..HEAD_LINES_MAX {
        if head_line(&mut frames).await?.is_empty() {
            return match status.split(' ').nth(1) {
                Some("101") => Ok((frames, to)),
                _ => Err(refused(&status)),
            };
        }
    }
    Err(refused("an endless head"))
}

async fn head_line(frames: &mut FrameReader<OwnedReadHalf>) -> io::Result<String> {
    let line = frames.next_line(HEAD_LINE_MAX).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned())
}

fn refused(said: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, format!("the coordinator answered {said:?}"))
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

async fn read(mut frames: FrameReader<OwnedReadHalf>, heard: mpsc::Sender<Downward>) {
    while let Ok(Some(frame)) = frames.next(FRAME_MAX).await {
        if heard.send(frame).await.is_err() {
            break;
        }
    }
}
