//! Ctrl+C, TERM and a closed terminal, as wishes to the loop.

use std::time::{Duration, Instant};

use swarm_engine::coordinator::Urge;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::error::CliError;
use crate::output;

const SIGCONT: i32 = rustix::process::Signal::CONT.as_raw();
const SIGTSTP: i32 = rustix::process::Signal::TSTP.as_raw();

/// `timeout` and service managers tell a process and its whole group, so that whoever is told hands on what has come
/// already: the same signal so soon after itself is one wish. Nobody presses a key again so soon because they read that
/// they may.
const TOGETHER: Duration = Duration::from_millis(500);

/// Listens from now on. The first INT or TERM drains, the second leaves; HUP (the terminal was closed)
/// changes nothing: the swarm goes on without it. TSTP (Ctrl+Z, handed on by whoever watches) takes it off the terminal, CONT
/// brings it back.
pub fn listen() -> Result<mpsc::Receiver<Urge>, CliError> {
    let failed = |e: std::io::Error| CliError::environment("Cannot listen to signals").because(e);
    let mut interrupts = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut ends = signal(SignalKind::terminate()).map_err(failed)?;
    let mut hangups = signal(SignalKind::hangup()).map_err(failed)?;
    let mut awakenings = signal(SignalKind::from_raw(SIGCONT)).map_err(failed)?;
    let mut away = signal(SignalKind::from_raw(SIGTSTP)).map_err(failed)?;
    let (urges, listener) = mpsc::channel(4);
    tokio::spawn(async move {
        let mut asked: Option<(&str, Instant)> = None;
        loop {
            let (why, again) = tokio::select! {
                Some(()) = interrupts.recv() => ("Ctrl+C", "press Ctrl+C again"),
                Some(()) = ends.recv() => ("SIGTERM", "send it again"),
                Some(()) = hangups.recv() => continue,
                Some(()) = away.recv() => {
                    output::away(true);
                    continue;
                }
                Some(()) = awakenings.recv() => {
                    output::away(false);
                    let _ = urges.send(Urge::Awake).await; // nobody listens only at the end
                    continue;
                }
            };
            let urge = match asked {
                Some((same, at)) if same == why && at.elapsed() < TOGETHER => continue,
                Some(_) => Urge::Leave,
                None => Urge::Drain(why),
            };
            if asked.is_none() {
                output::note(&format!("Stopping; {again} to leave at once (agents stop by themselves)"));
            }
            asked.get_or_insert((why, Instant::now()));
            if urges.send(urge).await.is_err() {
                return;
            }
        }
    });
    Ok(listener)
}
