//! The coordinator's end of the work channel, and everything else that arrives at its socket: queues, no sockets.

use swarm_git::GitError;
use swarm_protocol::api::{ApiError, Delivery};
use swarm_protocol::channel::{Downward, Hello, Response, Upward};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::diff::DiffView;
use swarm_protocol::ids::{CommandId, RunId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use swarm_work::channel::QUEUE_FRAMES;
use tokio::sync::{mpsc, oneshot};

use crate::look::{Look, Looked};
use crate::preview::NoPreview;
use crate::work_diff::Part;

/// What arrives at the coordinator's socket, in the order of one queue, so that its loop is a plain `select!`.
#[derive(Debug)]
pub enum FromSocket {
    /// Answered through `reply` after the ledger's sync. A dropped `reply` closes the connection
    /// without an answer, and the client asks again with the same command id.
    Command { envelope: Envelope, reply: oneshot::Sender<Response> },
    /// A daemon said hello. The coordinator checks the secret, then greets it through `link`, or drops `link`.
    Daemon { hello: Hello, link: DaemonLink },
    /// A later frame on a connection that said hello. Not to be believed before the greeting.
    Frame { link: LinkId, run: RunId, frame: Upward },
    /// That connection is over; the daemon may come back on another one at any time.
    Lost { link: LinkId, run: RunId },
    /// Somebody looks. Answered after the sync of everything that was decided before.
    Look { what: Look, reply: oneshot::Sender<Looked> },
    /// Somebody wants to know what a command would do. Nothing is recorded; the look takes its time, beside the loop.
    Preview { command: Box<Command>, reply: oneshot::Sender<Result<PreviewView, NoPreview>> },
    /// Somebody wants to see what the work of a task changes; none: there is no work yet. Beside the loop, too.
    Diff { task: TaskId, part: Part, reply: oneshot::Sender<Result<Option<DiffView>, GitError>> },
    /// Somebody looks at trunk, and at what brought its lines. Beside the loop, too.
    Trunk { ask: TrunkAsk, reply: oneshot::Sender<Result<TrunkView, ApiError>> },
    /// Somebody asks what became of a command.
    Delivery { id: CommandId, reply: oneshot::Sender<Delivery> },
    /// A process inside a run asked for what is not an agent's to do, and was refused.
    Overstep { run: Option<RunId>, nonce: Option<String>, what: String },
}

/// Numbers connections, so that the end of an old one is not taken for the end of a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// The coordinator's end of one connection; dropping it closes the connection.
#[derive(Debug)]
pub struct DaemonLink {
    pub id: LinkId,
    pub run: RunId,
    outgoing: mpsc::Sender<Downward>,
}

impl DaemonLink {
    /// The link and the queue that its connection empties.
    pub fn new(id: LinkId, run: RunId) -> (Self, mpsc::Receiver<Downward>) {
        let (outgoing, queue) = mpsc::channel(QUEUE_FRAMES);
        (Self { id, run, outgoing }, queue)
    }

    /// Puts the frame on its way; false when the connection is over or its daemon does not read
    /// (drop the link then: the daemon comes back and is told anew).
    pub fn send(&self, frame: Downward) -> bool {
        self.outgoing.try_send(frame).is_ok()
    }
}
