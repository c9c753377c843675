//! The daemon of a run alive and ours: adopted if it lives, started if it never did, its end told if it is over.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use swarm_protocol::channel::ExitRecord;
use tokio::io::AsyncReadExt;

use super::end::{Death, End, how_it_ended};
use super::owner::{Foreign, foreign};
use super::secret::to_hex;
use super::watch::process_of;
use crate::daemon::{DaemonSpec, DurableError, READY, RunFiles, names_handed_on, write_whole};
use swarm_process::{Call, Input, ProcessError, environment};

/// A daemon that lives but does not say hello within this time after a knock is silent: it is to be
/// ended with [`super::stop_run`].
pub const SILENT_AFTER: Duration = Duration::from_secs(10);

/// How long a new daemon may take until its record is on disk, before we go on without waiting.
const READY_WITHIN: Duration = Duration::from_secs(10);

const LOOKS_MAX: u32 = 50;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is logged. Handed on to daemons, and by them to nobody.
pub const LOG_VARIABLE: &str = "SWARM_LOG";
/// And in which form they are kept.
pub const LOG_FORMAT_VARIABLE: &str = "SWARM_LOG_FORMAT";

/// How a daemon is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Our own executable.
    pub program: PathBuf,
    /// Before the path of the spec: `daemon --spec`.
    pub args: Vec<String>,
    /// Names of further variables to hand on (an agent's key). Only names are ever written down.
    pub pass_env: Vec<String>,
}

impl Launch {
    /// `swarm daemon --spec FILE`.
    pub fn of(swarm: impl Into<PathBuf>) -> Self {
        Self {
            program: swarm.into(),
            args: vec!["daemon".into(), "--spec".into()],
            pass_env: vec![LOG_VARIABLE.into(), LOG_FORMAT_VARIABLE.into()],
        }
    }
}

/// What was found, or done.
#[derive(Debug)]
pub enum Found {
    /// It lives and was knocked at: its hello is to be expected within [`SILENT_AFTER`].
    Adopted,
    /// There had been none; now there is one that will say hello.
    Spawned,
    /// It ended while nobody looked, and left its last word.
    Ended(ExitRecord),
    /// It died without a last word. Its tree has been ended.
    Died(Death),
    /// The record tells of somebody else's processes, which were left alone.
    Foreign(Foreign),
}

#[derive(Debug, thiserror::Error)]
pub enum EnsureError {
    #[error("cannot use {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Durable(#[from] DurableError),
    #[error("cannot start the daemon: {0}")]
    Spawn(#[from] ProcessError),
    #[error("{run} cannot be taken over: {owner}")]
    Elsewhere { run: String, owner: Foreign },
    #[error("the daemon of {run} ended before it was ready: {said}")]
    NotReady { run: String, said: String },
}

/// Makes sure that the run has its daemon, or says how that daemon ended. May be asked at any time, again and again.
pub async fn ensure_daemon(
    spec: &DaemonSpec,
    secret: &[u8; 32],
    launch: &Launch,
) -> Result<Found, EnsureError> {
    let files = spec.files();
    files.make_dir().map_err(|source| EnsureError::Io { path: files.dir.clone(), source })?;
    match foreign(&files, &spec.root) {
        Some(owner @ Foreign::Elsewhere { .. }) => {
            return Err(EnsureError::Elsewhere { run: spec.run.to_string(), owner });
        }
        Some(owner) => return Ok(Found::Foreign(owner)),
        None => {}
    }
    let io = |source| EnsureError::Io { path: files.lock(), source };
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(files.lock())
        .map_err(io)?;
    if !take_unless_alive(&lock, &files).await.map_err(io)? {
        knock(&files);
        return Ok(Found::Adopted);
    }
    // Nobody can become its daemon while we look.
    match how_it_ended(&files, &spec.nonce, spec.stop_grace()).await {
        End::LastWord(exit) => return Ok(Found::Ended(exit)),
        End::Died(death) => return Ok(Found::Died(death)),
        End::NeverBegan => {}
    }
    write_whole(&files.spec(), spec)?;
    drop(lock);
    spawn(spec, &files, secret, launch).await
}

/// True when no daemon holds the lock and it is ours now. Somebody may hold it only to look, for a
/// moment: a holder counts as a daemon when the record names a living process, or when it stays.
async fn take_unless_alive(lock: &File, files: &RunFiles) -> io::Result<bool> {
    for _ in 0..LOOKS_MAX {
        if try_take(lock)? {
            // One whose lock file was removed or replaced lives all the same.
            return Ok(process_of(files).is_none());
        }
        if process_of(files).is_some() {
            return Ok(false);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(false)
}

/// True when the lock was free and is ours now.
pub(super) fn try_take(lock: &File) -> io::Result<bool> {
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

async fn spawn(
    spec: &DaemonSpec,
    files: &RunFiles,
    secret: &[u8; 32],
    launch: &Launch,
) -> Result<Found, EnsureError> {
    let io = |source| EnsureError::Io { path: files.log(), source };
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(files.log()).map_err(io)?;
    let mut call = Call::new(&launch.program).args(&launch.args).arg(files.spec()).cwd(&spec.root);
    let names = [names_handed_on(spec), launch.pass_env.clone()].concat();
    call.env = environment::allowed(&names);
    call.stdin = Input::Bytes(to_hex(secret).into_bytes());
    let mut running = call.spawn(Stdio::piped(), log.into())?;
    let stdout = running.child.stdout.take();
    // It outlives us, and this call too if that is dropped.
    running.leave();
    let mut said = [0; READY.len()];
    let ready = async {
        match stdout {
            Some(mut stdout) => stdout.read_exact(&mut said).await.map(|_| ()),
            None => Ok(()),
        }
    };
    match tokio::time::timeout(READY_WITHIN, ready).await {
        // Slow is not dead: its hello is waited for like that of an adopted one.
        Ok(Ok(())) | Err(_) => Ok(Found::Spawned),
        Ok(Err(_)) => not_ready(spec, files).await,
    }
}

/// The new daemon is gone already: because another one is there, or because it could not begin.
async fn not_ready(spec: &DaemonSpec, files: &RunFiles) -> Result<Found, EnsureError> {
    let lock = File::open(files.lock()).and_then(|lock| try_take(&lock));
    if matches!(lock, Ok(false)) {
        knock(files);
        return Ok(Found::Adopted);
    }
    let said = std::fs::read(files.log()).unwrap_or_default();
    let said = String::from_utf8_lossy(&said[said.len().saturating_sub(1000)..]).trim().to_owned();
    Err(EnsureError::NotReady { run: spec.run.to_string(), said })
}

/// Whether the daemon has said that it tried in vain to reach the coordinator, and has not come since.
pub fn cannot_reconnect(files: &RunFiles) -> bool {
    files.reconnect_failed().exists()
}

/// Ends the daemon's wait for a coordinator; false when nobody listens.
pub fn knock(files: &RunFiles) -> bool {
    // Not blocking: without a reader the opening fails at once.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let pipe = OpenOptions::new().write(true).custom_flags(nonblocking).open(files.knock());
    // A pipe that is full has been knocked at often enough.
    pipe.is_ok_and(|mut pipe| pipe.write(b"k").is_ok_and(|n| n == 1))
}
