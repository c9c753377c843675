//! Ctrl+C, TERM and a closed terminal, as wishes to the loop.

use swarm_engine::coordinator::Urge;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::error::CliError;
use crate::output;

const SIGCONT: i32 = rustix::process::Signal::CONT.as_raw();
const SIGTSTP: i32 = rustix::process::Signal::TSTP.as_raw();

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
        let mut asked = false;
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
            let urge = if asked { Urge::Leave } else { Urge::Drain(why) };
            if !asked {
                output::note(&format!("Stopping; {again} to leave at once (agents stop by themselves)"));
            }
            asked = true;
            if urges.send(urge).await.is_err() {
                return;
            }
        }
    });
    Ok(listener)
}
