//! The one that a person starts: it watches the coordinator, which is a process of its own, and starts it again
//! after an abnormal end. Agents live on meanwhile and are taken over.
//!
//! The coordinator has a session of its own. So the keys of the terminal come here and are handed on once, a closed
//! terminal is nothing to it, and when we are killed it simply goes on.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use swarm_engine::clock::since_boot;
use swarm_process::{ProcessIdentity, open_verified};
use tokio::signal::unix::{SignalKind, signal};

use super::Args;
use super::door::Beside;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::swarm::Swarm;
use crate::swarm::watchers::{self, Watching};

/// How a coordinator ends that had begun and could not go on. Between it and us; nobody else sees it.
pub const FELL: u8 = 71;
/// The same of one that could not even begin, since the disk has no room or is read-only.
pub const NOT_BEGUN: u8 = 72;

/// So many abnormal ends in so long a time are no accident.
const FALLS_MAX: usize = 5;
const WITHIN: Duration = Duration::from_secs(600);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Until the folder is there in which we say that we watch.
const SAY_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// The coordinator has heard by then that the terminal is the shell's.
const UNTIL_NOTHING_IS_DRAWN: Duration = Duration::from_millis(150);
/// Far away: the end of the process wakes us; this only bounds the wait.
const ONE_DAY: Duration = Duration::from_secs(86_400);

pub fn run(args: &Args, cx: &Context) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment("Cannot start").because(error))?;
    // Without a repository nobody can ask us to stop either; the coordinator says what is wrong.
    let swarm = Swarm::open(cx).ok();
    for said in swarm.iter().flat_map(Swarm::misnamed_hooks) {
        output::note(&output::harmless(&format!("Note: {said}")));
    }
    // Asked at once: while the coordinator starts, or is started again, the person may go to another branch.
    let here = swarm.as_ref().and_then(Swarm::current_branch);
    let door = swarm.as_ref().filter(|swarm| swarm.wants_door()).and_then(|_| Beside::start(cx));
    let place = swarm.map(|swarm| swarm.run_folder().to_owned());
    let at = since_boot();
    let ended = runtime.block_on(watch(&Began { args, cx, here, at }, place));
    drop(door);
    ended
}

/// What the person asked for, and where they stood.
struct Began<'a> {
    args: &'a Args,
    cx: &'a Context,
    here: Option<String>,
    /// By how long the machine has run.
    at: Duration,
}

/// What the coordinator is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Again,
    /// The person wants to stop, and the one that was told so is dead.
    Rest,
}

async fn watch(began: &Began<'_>, place: Option<PathBuf>) -> Result<ExitCode, CliError> {
    let mut keys = Keys::listen()?;
    let mut known = Known { place, watching: None };
    let mut falls = Falls::default();
    let mut turn = Turn::First;
    loop {
        let ended = stay_with(start(began, turn)?, &mut keys, &mut known).await?;
        tracing::info!(%ended, asked_to_stop = keys.asked, "the coordinator has ended");
        let Some(how) = abnormal(ended, turn) else { return Ok(code_of(ended).into()) };
        falls.slept(std::mem::take(&mut keys.slept));
        let Some(pause) = falls.note(Instant::now()) else { return Err(given_up(&how)) };
        known.say();
        if !keys.asked {
            output::note(&format!(
                "The coordinator crashed ({how}); restarting in {} s, agents continue",
                pause.as_secs()
            ));
            keys.wait(pause).await;
        }
        turn = if keys.asked { Turn::Rest } else { Turn::Again };
    }
}

/// None for an end that was meant: done, refused, or not possible from the start.
fn abnormal(ended: ExitStatus, turn: Turn) -> Option<String> {
    match (ended.code(), ended.signal()) {
        // There is nothing yet to go on with. Later on agents may be at work, and there may be room in a moment.
        (Some(code), _) if code == i32::from(NOT_BEGUN) && turn == Turn::First => None,
        (Some(code), _) if code == i32::from(FELL) || code == i32::from(NOT_BEGUN) => {
            Some("see above".into())
        }
        (Some(code), _) if code == i32::from(Exit::Bug.code()) => Some("a bug, see above".into()),
        (Some(_), _) => None,
        (None, signal) => Some(format!("signal {}", signal.unwrap_or_default())),
    }
}

fn code_of(ended: ExitStatus) -> u8 {
    match ended.code().and_then(|code| u8::try_from(code).ok()) {
        Some(NOT_BEGUN) => Exit::Environment.code(),
        code => code.unwrap_or(Exit::Bug.code()),
    }
}

fn given_up(how: &str) -> CliError {
    CliError::environment("The coordinator keeps failing and is not restarted")
        .because(format!("it crashed {FALLS_MAX} times in {} minutes, most recently: {how}", WITHIN.as_secs() / 60))
        .say("Nothing acknowledged is lost; agents save their work and stop by themselves. Run `swarm doctor`, then `swarm run`")
}

/// The same words, with what is done only once left out: the plan is saved, the choices are recorded.
fn start(began: &Began<'_>, turn: Turn) -> Result<Child, CliError> {
    let Began { args, cx, here, at } = began;
    let failed = |error: std::io::Error| CliError::environment("Cannot start the coordinator").because(error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("-C").arg(&cx.repo).arg("run").arg("--coordinate");
    if cx.out.json {
        command.arg("--json");
    }
    command.args((0..cx.verbose).map(|_| "-v"));
    if turn == Turn::Rest {
        command.arg("--rest");
    }
    if turn == Turn::First {
        command.args(args.agents.map(|agents| format!("--agents={agents}")));
        command.args(args.retry.then_some("--retry"));
        command.args(args.mode.map(|mode| format!("--mode={}", mode.word())));
        if let Some(plan) = &args.plan {
            command.arg("--plan").arg(plan);
        }
    }
    command.args(args.agent.as_ref().map(|agent| format!("--agent={agent}")));
    command.args(args.review.map(|by| format!("--review={}", by.word())));
    command.args(args.trunk.as_ref().map(|trunk| format!("--trunk={trunk}")));
    command.args(here.as_ref().map(|here| format!("--here={here}")));
    command.arg(format!("--began={}", at.as_millis()));
    let child = command.spawn().map_err(failed)?;
    tracing::info!(pid = child.id(), ?turn, "the coordinator is started");
    Ok(child)
}

/// Our own word that we watch, once there is a place for it.
struct Known {
    place: Option<PathBuf>,
    watching: Option<Watching>,
}

impl Known {
    fn say(&mut self) {
        if let (None, Some(place)) = (&self.watching, &self.place) {
            self.watching = Watching::say(place);
        }
    }

    fn is_missing(&self) -> bool {
        self.place.is_some() && self.watching.is_none()
    }
}

/// Waits for its end, and hands on what the person wants meanwhile.
async fn stay_with(mut child: Child, keys: &mut Keys, known: &mut Known) -> Result<ExitStatus, CliError> {
    known.say();
    // None when it has ended already: as long as nobody has asked how, its number is nobody else's.
    let process = ProcessIdentity::of(child.id(), "").and_then(|identity| open_verified(&identity));
    while let Some(process) = &process {
        tokio::select! {
            gone = process.wait_gone(ONE_DAY) => if gone { break },
            wish = keys.next() => match wish {
                Wish::Stop(Some(key)) => drop(process.signal(key)),
                // It has been told, or is just ending.
                Wish::Stop(None) => {}
                Wish::StepAside => {
                    // Before we stand still, so that it draws nothing into the shell.
                    process.signal(Signal::TSTP);
                    tokio::time::sleep(UNTIL_NOTHING_IS_DRAWN).await;
                    keys.step_aside();
                    process.signal(Signal::CONT);
                }
            },
            // The first run of all: the coordinator is just making the folder.
            () = tokio::time::sleep(SAY_AGAIN_AFTER), if known.is_missing() => known.say(),
        }
    }
    child.wait().map_err(|error| CliError::environment("Cannot watch the coordinator").because(error))
}

/// What the keys of the terminal say.
enum Wish {
    /// And what the coordinator is to be told; none when it has been told.
    Stop(Option<Signal>),
    /// The terminal is wanted for something else.
    StepAside,
}

/// Ctrl+C and TERM. A closed terminal changes nothing: the swarm goes on without it.
struct Keys {
    interrupts: tokio::signal::unix::Signal,
    ends: tokio::signal::unix::Signal,
    hangups: tokio::signal::unix::Signal,
    /// `swarm stop`, which has asked the coordinator itself.
    stops: tokio::signal::unix::Signal,
    /// Ctrl+Z.
    away: tokio::signal::unix::Signal,
    /// The person has asked to stop.
    asked: bool,
    /// How long we have stood still since somebody last asked.
    slept: Duration,
}

impl Keys {
    fn listen() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::environment("Cannot listen to signals").because(error))
        };
        Ok(Self {
            interrupts: listen(SignalKind::interrupt())?,
            ends: listen(SignalKind::terminate())?,
            hangups: listen(SignalKind::hangup())?,
            stops: listen(SignalKind::from_raw(watchers::STOP.as_raw()))?,
            away: listen(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
            asked: false,
            slept: Duration::ZERO,
        })
    }

    /// So long, or until the person wants to stop.
    async fn wait(&mut self, pause: Duration) {
        let end = tokio::time::Instant::now() + pause;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(end) => return,
                wish = self.next() => match wish {
                    Wish::Stop(_) => return,
                    Wish::StepAside => self.step_aside(),
                },
            }
        }
    }

    /// Ctrl+Z gives the terminal back to the shell, and the swarm goes on: agents that stood still would lose their
    /// connections. Comes back when the shell brings us to the front again, or `swarm stop` lets us go on.
    fn step_aside(&mut self) {
        output::note(
            "\nThe swarm continues in the background: `fg` shows it again, `swarm pause` holds it, `swarm stop` ends it",
        );
        let began = Instant::now();
        // Without an own number there is nobody to stop; then Ctrl+Z does nothing.
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
        self.slept += began.elapsed();
    }

    async fn next(&mut self) -> Wish {
        let key = loop {
            tokio::select! {
                Some(()) = self.interrupts.recv() => break Some(Signal::INT),
                Some(()) = self.ends.recv() => break Some(Signal::TERM),
                Some(()) = self.stops.recv() => break None,
                Some(()) = self.away.recv() => return Wish::StepAside,
                Some(()) = self.hangups.recv() => {}
                // Nothing can be heard any more.
                else => std::future::pending::<()>().await,
            }
        };
        self.asked = true;
        Wish::Stop(key)
    }
}

/// Abnormal ends of late.
#[derive(Debug, Default)]
struct Falls(VecDeque<Instant>);

impl Falls {
    /// Time in which nobody was there to see an end says nothing about how often they come.
    fn slept(&mut self, long: Duration) {
        self.0.iter_mut().for_each(|fall| *fall += long);
    }

    /// How long to wait before the next start; none when it has been too often.
    fn note(&mut self, now: Instant) -> Option<Duration> {
        self.0.push_back(now);
        while self.0.front().is_some_and(|first| now.duration_since(*first) > WITHIN) {
            self.0.pop_front();
        }
        let doublings = u32::try_from(self.0.len()).unwrap_or(u32::MAX).saturating_sub(1);
        (self.0.len() < FALLS_MAX).then(|| FIRST_PAUSE * 2u32.saturating_pow(doublings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_longer_each_time_and_gives_up_at_the_fifth_in_ten_minutes() {
        let (mut falls, start) = (Falls::default(), Instant::now());
        let pauses: Vec<_> = (0..5).map(|n| falls.note(start + Duration::from_secs(n * 60))).collect();
        let secs = |n| Some(Duration::from_secs(n));
        assert_eq!(pauses, [secs(1), secs(2), secs(4), secs(8), None]);
        // Those of long ago are forgotten.
        assert_eq!(falls.note(start + Duration::from_secs(3600)), secs(1));
    }

    #[test]
    fn one_that_found_no_room_to_begin_is_not_started_again_and_no_crash() {
        let ended = |code: u8| ExitStatus::from_raw(i32::from(code) << 8);
        assert_eq!(abnormal(ended(NOT_BEGUN), Turn::First), None);
        assert_eq!(code_of(ended(NOT_BEGUN)), Exit::Environment.code());
        for (code, turn) in [(NOT_BEGUN, Turn::Again), (NOT_BEGUN, Turn::Rest), (FELL, Turn::First)] {
            assert_eq!(abnormal(ended(code), turn).as_deref(), Some("see above"), "{code} {turn:?}");
        }
    }

    #[test]
    fn falls_do_not_grow_old_while_the_watcher_stands_still() {
        let (mut falls, start) = (Falls::default(), Instant::now());
        assert!((0..4).all(|n| falls.note(start + Duration::from_secs(n)).is_some()));
        // Ctrl+Z, and `fg` an hour later.
        falls.slept(Duration::from_secs(3600));
        assert_eq!(falls.note(start + Duration::from_secs(3605)), None);
    }
}
