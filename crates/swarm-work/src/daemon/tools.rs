//! The tools of the run: a socket in its own folder for temporary files, at which the programs of this run, and nobody
//! else, say what they would otherwise print.
//!
//! Who calls is known by the kernel: a process counts if it descends from this daemon. Neither what it sends nor what
//! stands in its environment says anything about that. Each connection is one call: a line of JSON, answered by one.

mod asking;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use swarm_protocol::attempt::{AgentCall, CALL_MAX, CallAnswer, CallFrame, ReserveArgs};
use swarm_protocol::channel::FromDaemon;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use swarm_process::caller::{Peer, descends_from_us};
use swarm_process::complain;

pub use asking::Asking;

/// Connections at once; whoever comes next waits for one of them to end.
const AT_ONCE_MAX: usize = 8;

/// Calls of one iteration. An agent needs ten.
const CALLS_MAX: u32 = 500;

/// A caller that says nothing, or does not read, is left alone after this.
const SAY_WITHIN: Duration = Duration::from_secs(5);

/// Programs wait a minute for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// A call on its way to whoever reads what the program says.
#[derive(Debug)]
pub struct Called {
    pub call: AgentCall,
    pub answer: oneshot::Sender<CallAnswer>,
}

/// Files that an agent asked for, on their way to the coordinator.
#[derive(Debug)]
pub struct Wanted {
    pub files: ReserveArgs,
    pub answer: oneshot::Sender<CallAnswer>,
}

/// Open while a program of the run works.
#[derive(Debug)]
pub struct Tools {
    pub socket: PathBuf,
    pub calls: mpsc::Receiver<Called>,
    door: JoinHandle<()>,
}

impl Tools {
    /// Opens the socket. `told`: where a stranger at it is reported.
    pub fn open(socket: PathBuf, told: mpsc::Sender<FromDaemon>) -> std::io::Result<Self> {
        // What an earlier iteration left in its place is nobody's.
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&socket)?;
        let (calls_out, calls) = mpsc::channel(AT_ONCE_MAX);
        let (taken, strangers) = (AtomicU32::new(0), AtomicBool::new(false));
        let door = Arc::new(Door { calls: calls_out, told, taken, strangers });
        Ok(Self { socket, calls, door: tokio::spawn(door.serve(listener)) })
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        self.door.abort();
        let removed = std::fs::remove_file(&self.socket);
        if removed.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::NotFound) {
            complain("take away the socket of the tools", removed);
        }
    }
}

struct Door {
    calls: mpsc::Sender<Called>,
    told: mpsc::Sender<FromDaemon>,
    taken: AtomicU32,
    /// They were told of. Each report is a line on the disk, and whoever is refused can come again at once.
    strangers: AtomicBool,
}

impl Door {
    async fn serve(self: Arc<Self>, listener: UnixListener) {
        let places = Arc::new(Semaphore::new(AT_ONCE_MAX));
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            let Ok((stream, _)) = listener.accept().await else {
                // No descriptors are left: others end.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let door = Arc::clone(&self);
            tokio::spawn(async move {
                door.attend(stream).await;
                drop(place);
            });
        }
    }

    async fn attend(&self, stream: UnixStream) {
        let pid = stream.peer_cred().ok().and_then(|who| u32::try_from(who.pid()?).ok());
        // Asked at once: the pid is of a process that has just connected.
        if !pid.is_some_and(|pid| descends_from_us(Peer { pid })) {
            let text = "a process that is none of this run's asked for its tools, and was refused".into();
            if !self.strangers.load(Ordering::Relaxed) {
                let told = self.told.try_send(FromDaemon::Noted { text }).is_ok();
                self.strangers.store(told, Ordering::Relaxed);
            }
            return;
        }
        let (from, mut to) = stream.into_split();
        let answer = match timeout(SAY_WITHIN, line_of(BufReader::new(from))).await {
            Ok(Ok(line)) => self.answer(&line).await,
            Ok(Err(why)) => CallAnswer::refused(why),
            Err(_) => CallAnswer::refused("the call did not come in time"),
        };
        let mut line = serde_json::to_vec(&answer).unwrap_or_default();
        line.push(b'\n');
        let _ = timeout(SAY_WITHIN, to.write_all(&line)).await;
    }

    async fn answer(&self, line: &[u8]) -> CallAnswer {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        if taken >= CALLS_MAX {
            let text = format!("more than {CALLS_MAX} calls of tools in one iteration: no more are taken");
            if taken == CALLS_MAX {
                let _ = self.told.try_send(FromDaemon::Noted { text: text.clone() });
            }
            return CallAnswer::refused(text);
        }
        let call = match serde_json::from_slice::<CallFrame>(line) {
            Ok(frame) => AgentCall::read(frame),
            Err(error) => Err(format!("this is not a call: {error}")),
        };
        let call = match call {
            Ok(call) => call,
            Err(why) => return CallAnswer::refused(why),
        };
        let (answer, answered) = oneshot::channel();
        let over = || CallAnswer::refused("the iteration is over");
        if self.calls.send(Called { call, answer }).await.is_err() {
            return over();
        }
        match timeout(ANSWER_WITHIN, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| over()),
            Err(_) => CallAnswer::refused("there was no answer in time; ask again"),
        }
    }
}

/// One line, bounded. One that is cut off by the end was never said.
async fn line_of(from: BufReader<impl tokio::io::AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    let mut bounded = from.take(CALL_MAX as u64 + 1);
    bounded.read_until(b'\n', &mut line).await.map_err(|error| error.to_string())?;
    match line.pop() {
        Some(b'\n') => Ok(line),
        _ if line.len() >= CALL_MAX => Err(format!("a call has at most {CALL_MAX} bytes")),
        _ => Err("the call was broken off".into()),
    }
}

/// The next call, while tools are open.
pub async fn next_of(calls: Option<&mut mpsc::Receiver<Called>>) -> Called {
    if let Some(calls) = calls
        && let Some(called) = calls.recv().await
    {
        return called;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn strangers_are_told_of_once_however_often_they_come() {
        let dir = tempfile::tempdir().expect("a folder");
        let (told, mut heard) = mpsc::channel(8);
        let tools = Tools::open(dir.path().join("tools"), told).expect("open");
        for _ in 0..3 {
            // Nobody descends from itself.
            let mut stranger = UnixStream::connect(&tools.socket).await.expect("connected");
            let mut answer = Vec::new();
            let _ = stranger.read_to_end(&mut answer).await;
            assert!(answer.is_empty());
        }
        assert!(matches!(heard.try_recv(), Ok(FromDaemon::Noted { .. })));
        assert!(heard.try_recv().is_err());
    }
}
