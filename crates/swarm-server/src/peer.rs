//! Who is calling: known from the kernel, never from what the caller says about itself.

mod ancestors;

use std::sync::Arc;

use axum::http::HeaderMap;
use swarm_process::start_time_of;
use swarm_protocol::ids::RunId;
use swarm_work::daemon::RunFiles;
use tokio::net::UnixStream;

pub use ancestors::{by_ancestors, by_ancestors_alone};

/// A caller may ask to be treated as less than it is: `Swarm-Role: viewer`.
pub const ROLE_HEADER: &str = "swarm-role";

/// The process at the other end, as the kernel noted it when it connected. 0: it cannot be seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub pid: u32,
    pub uid: u32,
}

impl Peer {
    pub fn of(stream: &UnixStream) -> std::io::Result<Self> {
        let credentials = stream.peer_cred()?;
        let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
        Ok(Self { pid, uid: credentials.uid() })
    }

    /// Whether this process is the daemon that the run's record names.
    pub fn is_daemon_of(&self, files: &RunFiles) -> bool {
        files.read_record().is_some_and(|record| {
            record.pid == self.pid && start_time_of(self.pid) == Some(record.start_time)
        })
    }
}

/// A run that a process belongs to, by what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inside {
    pub run: Option<RunId>,
    pub nonce: Option<String>,
}

/// Where a process stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Outside,
    /// Below the daemon of a run: an agent, whatever it shows.
    Inside(Inside),
    /// It has ended, or cannot be seen from here: nobody knows whose wish this is.
    Unseen,
}

/// Looks where a process stands. Asked once for each connection, at once, so that a pid cannot have
/// been given to somebody else.
pub type Who = Arc<dyn Fn(Peer) -> Standing + Send + Sync>;

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Operator,
    Agent,
    Viewer,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Agent => "agent",
            Self::Viewer => "viewer",
        }
    }
}

/// One connection's other end.
#[derive(Debug, Clone)]
pub struct Caller {
    pub peer: Peer,
    pub standing: Standing,
    /// It took a place that is kept for daemons.
    pub daemons_only: bool,
}

impl Caller {
    /// A header lowers the role and never raises it.
    pub fn role(&self, headers: &HeaderMap) -> Role {
        match self.standing {
            Standing::Inside(_) => Role::Agent,
            Standing::Unseen => Role::Viewer,
            Standing::Outside => match headers.get(ROLE_HEADER) {
                None => Role::Operator,
                Some(wish) if wish == "operator" => Role::Operator,
                Some(_) => Role::Viewer,
            },
        }
    }

    pub fn inside(&self) -> Option<&Inside> {
        match &self.standing {
            Standing::Inside(inside) => Some(inside),
            Standing::Outside | Standing::Unseen => None,
        }
    }
}
