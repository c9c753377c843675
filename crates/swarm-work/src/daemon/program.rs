//! Runs one program of the run to its end: every line heard, the whole tree gone afterwards.

mod watched;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::tools::Called;
use super::traced;
use swarm_agents::journal::Stream;
use swarm_process::containment::{Containment, NoContainment};
use swarm_process::launcher::Launcher;
use swarm_process::sandbox::{SandboxSpec, SandboxStatus};
use swarm_process::{Call, Enclosure, ProcessError};
use watched::Watched;

/// What outlives its program is asked to go for at most this long, then forced.
const LEFTOVER_GRACE_MAX: Duration = Duration::from_secs(1);

/// `Some(grace)` once the program is to be stopped.
pub type StopWish = watch::Receiver<Option<Duration>>;

/// What the program is told on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    Nothing,
    Bytes(Vec<u8>),
    Close,
}

/// Takes what the program prints, and says what it is told and when it is over.
pub trait Listener: Send {
    /// `more`: the line was too long and goes on.
    fn line(&mut self, stream: Stream, text: &str, more: bool);

    /// What is to be written to the program's stdin now; asked after the start and after each line.
    /// Only for programs started with a dialogue ([`swarm_process::Input::Pipe`]).
    fn outgoing(&mut self) -> Outgoing {
        Outgoing::Nothing
    }

    /// How long silence is fine right now; none: as long as it likes (a tool is running).
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Why the program is to be ended now although nobody asked: a wrong key that it would retry, too
    /// many steps, its dialogue is over.
    fn enough(&self) -> Option<String> {
        None
    }

    /// It gets no time to leave by itself first.
    fn at_once(&self) -> bool {
        false
    }

    /// Where calls of its tools come in.
    fn calls(&mut self) -> Option<&mut mpsc::Receiver<Called>> {
        None
    }

    fn called(&mut self, _called: Called) {}

    /// Half of the patience is gone without a sign of life.
    fn is_quiet(&mut self, _for_how_long: Duration) {}
}

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    ByItself,
    Stopped,
    TimedOut,
    /// Neither a line nor work for as long as the listener would wait.
    Silent,
    /// The listener had enough of it, or it did not listen.
    Enough,
}

#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub how: How,
    /// For people: why it was ended before its time.
    pub why: Option<String>,
    /// Processes of the tree that could not be ended: the kernel holds them.
    pub left: Vec<u32>,
    /// The limit that it was ended for, for people.
    pub limit: Option<String>,
    /// How strong its sandbox was; none without one.
    pub walls: Option<SandboxStatus>,
}

/// The bounds of one program.
pub struct Bounds {
    pub nonce: String,
    pub grace: Duration,
    pub deadline: Option<Instant>,
    /// The net that was chosen, or why the wanted one cannot be had: then nothing is started.
    pub containment: Result<Containment, NoContainment>,
    /// None: no walls.
    pub sandbox: Option<SandboxSpec>,
    pub swarm_dir: PathBuf,
    pub launcher: Launcher,
}

/// Starts the program and comes back when it and everything it started are gone.
pub async fn run(
    call: Call,
    bounds: &Bounds,
    listener: &mut dyn Listener,
    stop: &mut StopWish,
) -> Result<Ran, ProcessError> {
    let program = call.program.to_string_lossy().into_owned();
    let lost = |source| ProcessError::Read { program: program.clone(), source };
    let containment = bounds.containment.as_ref().map_err(|no| ProcessError::NoContainment(no.clone()))?;
    let ended_children = signal(SignalKind::child()).map_err(lost)?;
    let enclosure = Enclosure {
        launcher: &bounds.launcher,
        containment,
        sandbox: bounds.sandbox.as_ref(),
        swarm_dir: &bounds.swarm_dir,
        nonce: &bounds.nonce,
        leftover_grace: bounds.grace.min(LEFTOVER_GRACE_MAX),
    };
    traced::starts(&program);
    let started = enclosure.start(call)?;
    let mut watched = Watched::new(started, bounds, listener, ended_children);
    let status = watched.until_the_end(stop).await.map_err(lost)?;
    // One that did its work in spite of a limit has nothing to tell of it.
    if watched.how == How::ByItself && !status.success() {
        watched.limit = watched.boxed.held.enforced().map(str::to_owned);
    }
    let left = watched.clear_up().await;
    watched.boxed.begun(status, watched.how != How::ByItself)?;
    let walls = watched.boxed.walls();
    traced::ended(&program, status, watched.how, &left);
    Ok(Ran { status, how: watched.how, why: watched.why, left, limit: watched.limit, walls })
}
