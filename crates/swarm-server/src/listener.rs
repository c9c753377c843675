//! The coordinator's end of its socket: daemons and commands, told apart by their first frame.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use swarm_engine::channel::{AtDoor, DaemonLink, LinkId};
use swarm_protocol::channel::{Downward, FRAME_MAX, Hello, REQUEST_MAX, Request, Response, Upward};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::frames::{FrameReader, write_frame};
use crate::socket;

/// What may wait for the coordinator's loop; beyond it the peers wait in their sockets.
pub const DOOR_QUEUE: usize = 256;

/// Connections at once. 64 daemons and all the commands of a busy person are far below it.
const CONNECTIONS_MAX: usize = 512;

/// A peer that has connected says who it is within this time.
const FIRST_FRAME_WITHIN: Duration = Duration::from_secs(10);

/// Listens until it is dropped; then the socket's file is gone and all connections are closed.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
    accepting: JoinHandle<()>,
}

impl Listener {
    /// Begins to listen. To be called by the holder of the owner lock only: it takes the socket's place.
    pub fn start(path: &Path, door: mpsc::Sender<AtDoor>) -> io::Result<Self> {
        let listener = socket::bind(path)?;
        Ok(Self { path: path.to_owned(), accepting: tokio::spawn(accept(listener, door)) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        self.accepting.abort();
    }
}

async fn accept(listener: UnixListener, door: mpsc::Sender<AtDoor>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let links = Arc::new(AtomicU64::new(1));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of file handles, mostly: others may end meanwhile.
                Err(_) => { tokio::time::sleep(Duration::from_millis(100)).await; continue }
            },
            Some(_) = connections.join_next() => continue,
        };
        let (door, links) = (door.clone(), Arc::clone(&links));
        connections.spawn(async move {
            serve(stream, door, links).await;
            drop(place);
        });
    }
}

async fn serve(stream: UnixStream, door: mpsc::Sender<AtDoor>, links: Arc<AtomicU64>) {
    let (from, mut to) = stream.into_split();
    let mut frames = FrameReader::new(from);
    let first = tokio::time::timeout(FIRST_FRAME_WITHIN, frames.next_line(REQUEST_MAX)).await;
    let Ok(Ok(Some(line))) = first else { return };
    if let Ok(Upward::Hello(hello)) = serde_json::from_slice(line) {
        let id = LinkId(links.fetch_add(1, Ordering::Relaxed));
        return serve_daemon(hello, id, frames, to, door).await;
    }
    match serde_json::from_slice(line) {
        Ok(request) => serve_requests(request, frames, to, door).await,
        Err(error) => {
            let text =
                format!("the coordinator does not understand this (is it of another version?): {error}");
            let _ = write_frame(&mut to, &Response::Failed { text }, REQUEST_MAX).await;
        }
    }
}

async fn serve_requests(
    mut request: Request,
    mut frames: FrameReader<OwnedReadHalf>,
    mut to: OwnedWriteHalf,
    door: mpsc::Sender<AtDoor>,
) {
    loop {
        let response = match request {
            Request::Ping => Response::Pong,
            Request::Command(envelope) => {
                let (reply, answer) = oneshot::channel();
                if door.send(AtDoor::Command { envelope, reply }).await.is_err() {
                    return;
                }
                // No answer: the client must find the connection closed and ask again.
                let Ok(response) = answer.await else { return };
                response
            }
        };
        if write_frame(&mut to, &response, REQUEST_MAX).await.is_err() {
            return;
        }
        request = match frames.next(REQUEST_MAX).await {
            Ok(Some(request)) => request,
            _ => return,
        };
    }
}

async fn serve_daemon(
    hello: Hello,
    id: LinkId,
    frames: FrameReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    door: mpsc::Sender<AtDoor>,
) {
    let run = hello.run.clone();
    let (link, queue) = DaemonLink::new(id, run.clone());
    if door.send(AtDoor::Daemon { hello, link }).await.is_err() {
        return;
    }
    // Whichever ends first, the connection is over.
    tokio::select! {
        () = write_orders(queue, to) => {}
        () = read_reports(frames, id, &run, &door) => {}
    }
    let _ = door.send(AtDoor::Lost { link: id, run }).await;
}

async fn write_orders(mut queue: mpsc::Receiver<Downward>, mut to: OwnedWriteHalf) {
    while let Some(frame) = queue.recv().await {
        if write_frame(&mut to, &frame, FRAME_MAX).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

async fn read_reports(
    mut frames: FrameReader<OwnedReadHalf>,
    link: LinkId,
    run: &swarm_protocol::ids::RunId,
    door: &mpsc::Sender<AtDoor>,
) {
    while let Ok(Some(frame)) = frames.next::<Upward>(FRAME_MAX).await {
        if door.send(AtDoor::Frame { link, run: run.clone(), frame }).await.is_err() {
            return;
        }
    }
}
