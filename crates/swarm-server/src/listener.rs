//! The coordinator's end of its socket: accepts, looks who it is, and serves HTTP.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use swarm_engine::channel::FromSocket;
use swarm_engine::feed::Feed;
use swarm_engine::paths::Paths;
use swarm_protocol::api::ErrorBody;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::api::{self, Fault};
use crate::api_state::ApiState;
use crate::hub::Hub;
pub use crate::limits::SOCKET_QUEUE;
use crate::limits::{HEAD_MAX, Limits};
use crate::patient::Patient;
use crate::peer::{Caller, Peer, Standing, Who, by_ancestors};
use crate::places::Place;
use crate::socket;

/// Everything a listener needs.
pub struct Opening {
    pub paths: Paths,
    /// Where what arrives goes.
    pub api: mpsc::Sender<FromSocket>,
    pub feed: Feed,
    /// Says where a process stands.
    pub who: Who,
    pub limits: Limits,
}

impl Opening {
    pub fn new(paths: &Paths, api: mpsc::Sender<FromSocket>, feed: Feed) -> Self {
        let who = by_ancestors(&paths.swarm);
        Self { paths: paths.clone(), api, feed, who, limits: Limits::default() }
    }

    /// Begins to listen. To be called by the holder of the owner lock only: it takes the socket's place.
    pub fn listen(self) -> io::Result<Listener> {
        let Self { paths, api: queue, feed, who, limits } = self;
        let socket = KeptSocket::bind(&paths.socket)?;
        let end = CancellationToken::new();
        let file = Arc::clone(&socket.file);
        let hub = Hub::start(feed, paths.ledger.clone(), limits, &end);
        let api = ApiState::new(paths, limits, hub, queue, end.clone());
        let connections = TaskTracker::new();
        let front = Arc::new(Front { router: api::router(Arc::clone(&api)), api, who });
        tokio::spawn(end.clone().run_until_cancelled_owned(accept(socket, front, connections.clone())));
        Ok(Listener { file, farewell: limits.farewell, connections, _end: end.drop_guard() })
    }
}

/// Listens until it is closed or dropped; then the socket's file is gone and all connections end.
#[derive(Debug)]
pub struct Listener {
    file: Arc<SocketFile>,
    farewell: Duration,
    connections: TaskTracker,
    _end: DropGuard,
}

impl Listener {
    /// Listens with everything as usual.
    pub fn start(paths: &Paths, api: mpsc::Sender<FromSocket>, feed: Feed) -> io::Result<Self> {
        Opening::new(paths, api, feed).listen()
    }

    /// Ends in good order: nobody new is let in, streams say that they end and how to resume, requests that are
    /// not answered are told to ask again. Takes a moment, bounded.
    pub async fn close(self) {
        let (connections, farewell) = (self.connections.clone(), self.farewell);
        drop(self);
        connections.close();
        let _ = tokio::time::timeout(farewell, connections.wait()).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The connections end by the token, which is dropped after this.
        self.file.remove();
    }
}

/// The socket's file, under its name for as long as we listen.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// Which file is ours: another coordinator's socket in its place is not to be taken away. None: we listen no more.
    inode: Mutex<Option<u64>>,
}

impl SocketFile {
    fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        let listener = socket::bind(path)?;
        let inode = Mutex::new(Some(inode_of(path).unwrap_or_default()));
        Ok((Self { path: path.to_owned(), inode }, listener))
    }

    /// Cleaners of temporary files and `git clean` take it away, and without it nobody could stop the swarm. One that
    /// stands there in place of ours is another coordinator's, and stays.
    fn bind_again_if_gone(&self) -> Option<UnixListener> {
        // Held meanwhile: whoever removes it for good would find it there again afterwards.
        let mut inode = self.inode.lock().unwrap_or_else(PoisonError::into_inner);
        if inode.is_none() || inode_of(&self.path).is_some() {
            return None;
        }
        // Where even the folder is gone, the next look may find it again.
        let listener = socket::bind(&self.path).ok()?;
        *inode = Some(inode_of(&self.path).unwrap_or_default());
        Some(listener)
    }

    fn remove(&self) {
        let ours = self.inode.lock().unwrap_or_else(PoisonError::into_inner).take();
        if ours.is_some() && inode_of(&self.path) == ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn inode_of(path: &Path) -> Option<u64> {
    std::os::unix::fs::MetadataExt::ino(&std::fs::symlink_metadata(path).ok()?).into()
}

/// How often the socket's file is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Where callers arrive.
struct KeptSocket {
    file: Arc<SocketFile>,
    listener: UnixListener,
}

impl KeptSocket {
    fn bind(path: &Path) -> io::Result<Self> {
        let (file, listener) = SocketFile::bind(path)?;
        Ok(Self { file: Arc::new(file), listener })
    }

    async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            match tokio::time::timeout(LOOK_EVERY, self.listener.accept()).await {
                Ok(accepted) => return accepted.map(|(stream, _)| stream),
                Err(_) => {
                    if let Some(again) = self.file.bind_again_if_gone() {
                        self.listener = again;
                    }
                }
            }
        }
    }
}

/// What every connection needs.
struct Front {
    router: Router,
    api: Arc<ApiState>,
    who: Who,
}

/// Whoever comes is looked at before there is a place for it: an attempt that has its share gets no further, however often
/// it comes, so that the queue moves on and people have the places.
async fn accept(mut socket: KeptSocket, front: Arc<Front>, connections: TaskTracker) {
    loop {
        let Ok(stream) = socket.accept().await else {
            // Out of file handles, mostly: others may end meanwhile.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(peer) = Peer::of(&stream) else { continue };
        let standing = (front.who)(peer);
        let places = &front.api.places;
        let place = match &standing {
            Standing::Outside => places.any().await,
            Standing::Inside(inside) => places.of_attempt(Some(inside)),
            Standing::Unseen => places.of_attempt(None),
        };
        match place {
            Some(place) => drop(connections.spawn(serve(Arc::clone(&front), stream, peer, standing, place))),
            None => {
                turn_away(stream);
                // There may be thousands of them.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Says why, whatever was asked, and waits for nothing.
fn turn_away(stream: UnixStream) {
    let Fault { status, error } = Fault::busy("There are too many connections out of attempts already");
    let Ok(body) = serde_json::to_string(&ErrorBody { error }) else { return };
    let head = "Content-Type: application/json\r\nConnection: close\r\n";
    let said = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
    if let Ok(mut stream) = stream.into_std() {
        // It does not block: whoever left no room for it hears nothing.
        let _ = io::Write::write_all(&mut stream, said.as_bytes());
    }
}

async fn serve(front: Arc<Front>, stream: UnixStream, peer: Peer, standing: Standing, place: Place) {
    let fault = (peer.uid != rustix::process::geteuid().as_raw()).then(other_user);
    let limits = front.api.limits;
    let caller = Caller { peer, standing, daemons_only: place.daemons_only };
    let head_within = if place.daemons_only { limits.hello_within } else { limits.head_within };
    let seat: api::Seat = Arc::new(Mutex::new(Some(place)));
    let desk = ConnectionService { front: Arc::clone(&front), caller, seat: Arc::clone(&seat), fault };
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_within)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.stall)), desk)
        .with_upgrades();
    tokio::pin!(connection);
    // What went wrong on a connection is known to the one who has it.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = front.api.end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(limits.farewell, connection).await;
        }
    }
}

fn other_user() -> Fault {
    let hint = "Only the user who runs the swarm may connect to it";
    Fault::new(StatusCode::FORBIDDEN, "other_user", "You are another user", hint)
}

/// Serves the requests of one connection.
struct ConnectionService {
    front: Arc<Front>,
    caller: Caller,
    seat: api::Seat,
    /// Said to whatever is asked.
    fault: Option<Fault>,
}

type Answering = std::pin::Pin<Box<dyn Future<Output = Result<Response, std::convert::Infallible>> + Send>>;

impl Service<Request<Incoming>> for ConnectionService {
    type Response = Response;
    type Error = std::convert::Infallible;
    type Future = Answering;

    fn call(&self, mut request: Request<Incoming>) -> Answering {
        let fault = self.fault.clone().or_else(|| {
            let is_full = self.caller.daemons_only && request.uri().path() != api::WORK_PATH;
            is_full.then(|| Fault::busy("The coordinator has too many connections"))
        });
        let fault = fault.or_else(|| {
            let inside = self.caller.inside()?;
            (!self.front.api.pace.may_ask(inside, Instant::now())).then(Fault::too_often)
        });
        if let Some(fault) = fault {
            return Box::pin(async { Ok(closing(fault.into_response())) });
        }
        request.extensions_mut().insert(self.caller.clone());
        request.extensions_mut().insert(Arc::clone(&self.seat));
        let answering = TowerToHyperService::new(self.front.router.clone()).call(request.map(Body::new));
        Box::pin(answering)
    }
}

/// The connection is not worth keeping.
fn closing(mut response: Response) -> Response {
    let close = axum::http::HeaderValue::from_static("close");
    response.headers_mut().insert(axum::http::header::CONNECTION, close);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_that_was_taken_away_comes_back_and_one_that_was_given_up_does_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("coordinator.sock");
        let (file, _listener) = SocketFile::bind(&path).expect("bound");
        std::fs::remove_file(&path).expect("somebody takes it away");
        assert!(file.bind_again_if_gone().is_some() && path.exists());
        assert!(file.bind_again_if_gone().is_none(), "it is there");
        // The look that comes once in a second may come just now.
        file.remove();
        assert!(file.bind_again_if_gone().is_none() && !path.exists());
        // Another coordinator's is left alone.
        let (theirs, _listener) = SocketFile::bind(&path).expect("bound");
        file.remove();
        assert!(path.exists());
        theirs.remove();
        assert!(!path.exists());
    }
}
