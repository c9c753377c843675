//! Opens the door and closes it.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use sha2::{Digest, Sha256};
use swarm_engine::paths::Paths;
use swarm_server::client::Client;
use swarm_server::ledger::Ledger;
use swarm_server::peer::{Role, Who, by_ancestors_alone};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::control::{self, Link};
use crate::front::{Front, HOLDERS_AT_ONCE};
use crate::limits::Limits;
use crate::listener;
use crate::mcp::{Mcp, Speaks};
use crate::scrape::{self, Token};
pub use crate::sessions::Clock;
use crate::sessions::{Sessions, hex};
use crate::tail::Tail;
use crate::tokens::Tokens;

/// Large bodies that are read at once: each may take much memory.
const HEAVY_AT_ONCE: usize = 2;

/// Letters of the ledger's id in the cookie's name.
const NAME_LETTERS: usize = 12;

/// Everything a door needs.
pub struct Opening {
    pub paths: Paths,
    /// Answers where nobody coordinates.
    pub ledger: Arc<dyn Ledger>,
    /// The name of the repository's folder, for people.
    pub place: String,
    /// The branch that work is merged into, looked up when somebody asks.
    pub trunk: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// None: the usual port or the next free one. 0: any.
    pub port: Option<u16>,
    pub who: Who,
    pub clock: Clock,
    pub limits: Limits,
    /// Whoever speaks MCP with clients that have a token.
    pub mcp: Option<Arc<dyn Speaks>>,
}

#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// One door for one swarm.
    #[error("another door of this swarm is open")]
    Open,
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Port { port: u16, source: io::Error },
    #[error("cannot make {path}: {source}", path = path.display())]
    File { path: PathBuf, source: io::Error },
}

impl Opening {
    pub fn new(paths: &Paths, ledger: Arc<dyn Ledger>, place: String) -> Self {
        Self {
            who: by_ancestors_alone(&paths.swarm),
            paths: paths.clone(),
            ledger,
            place,
            trunk: Arc::new(|| None),
            port: None,
            clock: Arc::new(Instant::now),
            limits: Limits::default(),
            mcp: None,
        }
    }

    /// Begins to serve.
    pub async fn open(self) -> Result<Door, DoorError> {
        let Self { paths, ledger, place, trunk, port, who, clock, limits, mcp } = self;
        let lock = take_lock(&paths.run)?;
        let file = scrape::file_in(&paths.run);
        let scrape = Token::of(&paths.run).map_err(|source| DoorError::File { path: file, source })?;
        let bound =
            listener::bind(port).await.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        let (port, listener) =
            bound.map_err(|source| DoorError::Port { port: port.unwrap_or(listener::PORT), source })?;
        let socket = control::socket_in(&paths.run);
        let controls = swarm_server::socket::bind(&socket)
            .map_err(|source| DoorError::File { path: socket.clone(), source })?;
        let end = CancellationToken::new();
        let tail = Tail::start(&paths, ledger, limits.look_every, &end).await;
        let cookie = cookie_name(tail.era.borrow().ledger.as_deref(), &paths.swarm);
        let front = Arc::new(Front {
            port,
            place,
            trunk,
            cookie,
            sessions: Arc::new(Sessions::new(&limits)),
            scrape,
            clock,
            who,
            client: Client::new(&paths.socket),
            tail,
            limits,
            heavy: Semaphore::new(HEAVY_AT_ONCE),
            looks: HOLDERS_AT_ONCE.map(|most| Arc::new(Semaphore::new(most))),
            live: Arc::new(Semaphore::new(limits.live)),
            mcp: Mcp::new(mcp, Tokens::new(&paths.run)),
            end: end.clone(),
        });
        let connections = TaskTracker::new();
        let accepting = listener::accept(listener, Arc::clone(&front), connections.clone());
        tokio::spawn(end.clone().run_until_cancelled_owned(accepting));
        tokio::spawn(end.clone().run_until_cancelled_owned(control::accept(controls, Arc::clone(&front))));
        Ok(Door { front, connections, socket, _lock: lock, _end: end.drop_guard() })
    }
}

/// An open door; it closes when this is dropped.
pub struct Door {
    front: Arc<Front>,
    connections: TaskTracker,
    socket: PathBuf,
    _lock: File,
    _end: DropGuard,
}

impl Door {
    pub fn port(&self) -> u16 {
        self.front.port
    }

    pub fn cookie(&self) -> &str {
        &self.front.cookie
    }

    /// A link that opens the door once.
    pub fn link(&self, role: Role) -> io::Result<Link> {
        control::link_of(&self.front, role)
    }

    /// Ends in good order: pages are told, answers under way are finished. Takes a moment, bounded.
    pub async fn close(self) {
        let (connections, farewell) = (self.connections.clone(), self.front.limits.farewell);
        drop(self);
        connections.close();
        let _ = tokio::time::timeout(farewell, connections.wait()).await;
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// The lock of the one door, held as long as it is open and never taken away.
fn take_lock(run: &Path) -> Result<File, DoorError> {
    let path = run.join("web.lock");
    let failed = |source| DoorError::File { path: path.clone(), source };
    let lock = File::options().create(true).append(true).mode(0o600).open(&path).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(std::fs::TryLockError::WouldBlock) => Err(DoorError::Open),
        Err(std::fs::TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Browsers keep cookies by host and not by port: each swarm on a machine needs a name of its own.
fn cookie_name(ledger: Option<&str>, swarm: &Path) -> String {
    let letters =
        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).take(NAME_LETTERS).collect::<String>();
    let named = match ledger {
        Some(id) => letters(id),
        None => letters(&hex(&Sha256::digest(swarm.as_os_str().as_encoded_bytes()))),
    };
    format!("swarm-{named}")
}
