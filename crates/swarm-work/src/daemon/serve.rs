//! The life of a daemon process from its first to its last act.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{getpgid, getppid, setpgid, setsid};
use swarm_protocol::channel::{DaemonRecord, ExitRecord, FromDaemon, Hello};
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::RunId;
use swarm_protocol::outcome::Ended;
use tokio::net::unix::pipe;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Instrument;

use super::files::{RunFiles, write_durable, write_whole};
use super::line::Line;
use super::outbox::Outbox;
use super::run_context::RunContext;
use super::run_loop::{LastWord, RunLoop};
use super::spec::DaemonSpec;
use crate::channel::Channel;
use crate::no_room;
use swarm_agents::journal::Journal;
use swarm_process::ProcessIdentity;
use swarm_process::complain;
use swarm_process::sandbox::remove_tmp;

/// Ended in good order; the last word is on disk.
pub const EXIT_ENDED: u8 = 0;
/// Could not even begin: no lock, no record, no journal. Nothing was started.
pub const EXIT_CANNOT_START: u8 = 3;
/// Another daemon serves this run, or the run was ended before this one came up. Nothing was started.
pub const EXIT_NOT_WANTED: u8 = 10;

/// Whoever only looks whether the lock is held holds it for an instant: worth another try, for a second.
const LOCK_TRIES: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A second apart: a disk that has no room for a line after a minute will not get any soon.
const LAST_WORD_TRIES: u32 = 60;

/// A file system that the kernel has made read-only has to be mounted again, which whoever has files open on it prevents.
const LAST_WORD_TRIES_READ_ONLY: u32 = 5;

/// Why a daemon could not begin.
type Cannot = Box<dyn std::error::Error + Send + Sync>;

/// Said on stdout to the one who started us, once, when the record is on disk.
pub const READY: &str = "ready\n";

/// Serves one run to its end. `secret` came on an inherited file, never by argument or environment.
/// Answers with the exit code of the process.
pub async fn serve(spec: DaemonSpec, secret: String, channel: Box<dyn Channel>) -> u8 {
    let (run, task, attempt) = (&spec.run, &spec.task, spec.attempt);
    let span = tracing::info_span!("daemon", %run, %task, attempt, kind = ?spec.kind);
    match live(spec, secret, channel).instrument(span).await {
        Ok(code) => code,
        Err(error) => {
            complain::<(), _>("serve the run", Err(error));
            EXIT_CANNOT_START
        }
    }
}

async fn live(spec: DaemonSpec, secret: String, channel: Box<dyn Channel>) -> Result<u8, Cannot> {
    // Taken first: from here on neither a closed terminal nor Ctrl+C in it ends us.
    let _deaf = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()].map(signal);
    let mut term = signal(SignalKind::terminate())?;
    own_session();
    let files = spec.files();
    let Some(_lock) = lock_for_life(&files).await? else { return Ok(EXIT_NOT_WANTED) };
    // Whoever ends the run for good removes the spec before it looks at the lock, so either we see
    // that it is gone or they see that we live.
    if !files.spec().exists() {
        return Ok(EXIT_NOT_WANTED);
    }
    tracing::info!(version = swarm_process::release(), pid = std::process::id(), "begins");
    let me = ProcessIdentity::of_myself(&spec.nonce).ok_or("/proc cannot be read")?;
    let host = swarm_process::host::name();
    write_whole(&files.record(), &record(&spec, &me, &host))?;
    // The one who started us may be gone already.
    let _ = std::io::stdout().write_all(READY.as_bytes());
    let left = (spec.run.clone(), spec.nonce.clone());
    let exit = match set_up(spec, secret, host, channel) {
        Ok((mut duty, knock)) => {
            let last = duty.serve(&knock, &mut term).await;
            farewell(left, last, duty.outbox.waiting().cloned().collect())
        }
        // From the record on a silent end would look like a crash; this one has a reason to give.
        Err(error) => {
            let text = format!("the daemon cannot work: {error}");
            let how = match no_room::met_by(error.as_ref()) {
                // Over when there is room again: nobody has to be asked.
                true => Ended::Failed { failure: Failure::new(FailureClass::Shortage, text) },
                false => Ended::NotStarted { text },
            };
            farewell(left, LastWord { how, wip: None, settled: false }, Vec::new())
        }
    };
    tracing::info!(how = exit.how.describe(), unsaid = exit.unacknowledged.len(), "the last word");
    complain("remove the temporary files", remove_tmp(&exit.nonce));
    leave(&files, &exit, &mut term).await
}

/// Everything the daemon works with.
fn set_up(
    spec: DaemonSpec,
    secret: String,
    host: String,
    channel: Box<dyn Channel>,
) -> Result<(RunLoop, pipe::Receiver), Cannot> {
    let files = spec.files();
    swarm_process::become_reaper()?;
    let knock = hear_knocks(&files.knock())?;
    let outbox = Outbox::open(&files.outbox()).map_err(|error| at(&files.outbox(), error))?;
    let journal =
        Journal::open(&spec.journal(), spec.journal_max_bytes).map_err(|error| at(&spec.journal(), error))?;
    let hello =
        Hello { run: spec.run.clone(), secret, version: swarm_process::release(), host, epoch: 0, sent: 0 };
    let line = Line::new(channel, hello, Duration::from_secs(spec.reconnect_max_secs));
    let (context, told) = RunContext::new(spec, journal);
    Ok((RunLoop::new(context, told, line, outbox), knock))
}

fn at(path: &Path, error: std::io::Error) -> Cannot {
    format!("{}: {error}", path.display()).into()
}

/// A session of its own, so that the daemon outlives the coordinator and its terminal.
fn own_session() {
    if setsid().is_ok() {
        return;
    }
    // We were started as the leader of a process group, and such a one may not leave its session.
    // So step into the parent's group for a moment. If the parent is gone already, deaf ears must do.
    let parents = getppid().and_then(|parent| getpgid(Some(parent)).ok());
    if setpgid(None, parents).is_ok() {
        let _ = setsid();
    }
}

/// None when another daemon holds it, or when the run was ended and its files are gone.
async fn lock_for_life(files: &RunFiles) -> Result<Option<File>, Cannot> {
    // Not created here: the supervisor made it before it started us, and takes it away for good.
    let lock = match File::options().read(true).write(true).open(files.lock()) {
        Ok(lock) => lock,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    for _ in 0..LOCK_TRIES {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(std::fs::TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
            Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn record(spec: &DaemonSpec, me: &ProcessIdentity, host: &str) -> DaemonRecord {
    DaemonRecord {
        run: spec.run.clone(),
        kind: spec.kind,
        host: host.to_owned(),
        pid: me.pid,
        start_time: me.start_time,
        boot_id: me.boot_id.clone(),
        nonce: me.nonce.clone(),
        version: swarm_process::release(),
        ledger: None,
    }
}

fn hear_knocks(path: &Path) -> Result<pipe::Receiver, Cannot> {
    match mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    // Opened for writing too, so that it never comes to an end when a knocker closes it.
    Ok(pipe::OpenOptions::new().read_write(true).open_receiver(path)?)
}

fn farewell(
    (run, nonce): (RunId, String),
    last: LastWord,
    unacknowledged: Vec<(u64, FromDaemon)>,
) -> ExitRecord {
    ExitRecord { run, nonce, how: last.how, unacknowledged, wip: last.wip, settled: last.settled }
}

/// The last act. Should the disk refuse it, the lock is kept and the word tried again: without it
/// the run would look like a crash.
async fn leave(files: &RunFiles, exit: &ExitRecord, term: &mut Signal) -> Result<u8, Cannot> {
    let mut tries = 0;
    while let Err(error) = write_durable(&files.exit(), exit) {
        complain::<(), _>("write the last word", Err(&error));
        tries += 1;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            _ = term.recv() => return Err(error.into()),
        }
        let tries_max = match error.source.kind() {
            std::io::ErrorKind::ReadOnlyFilesystem => LAST_WORD_TRIES_READ_ONLY,
            _ => LAST_WORD_TRIES,
        };
        if tries >= tries_max {
            return Err(error.into());
        }
    }
    Ok(EXIT_ENDED)
}
