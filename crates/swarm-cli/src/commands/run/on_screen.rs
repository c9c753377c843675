//! A run behind `swarm tui`: the screen in front of it, the exit code and the last words as without one.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::Signal;
use swarm_process::{ProcessIdentity, open_verified};
use swarm_tui::session::Left;

use super::background::Begun;
use crate::commands::tui;
use crate::context::Context;
use crate::error::CliError;
use crate::output;

/// Far away: the end of the process wakes us; this only bounds the wait.
const ONE_DAY: Duration = Duration::from_secs(86_400);

/// Somebody sits at a terminal that can show a screen.
pub fn is_possible() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let can_move = std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    at_terminal && can_move && !is_set("CI") && !tui::is_accessible()
}

/// Shows it until it ends or the person leaves.
pub fn show(mut begun: Begun, cx: &Context) -> Result<ExitCode, CliError> {
    // Where it was over or refused at once, there is nothing to look at.
    if begun.has_ended() {
        return begun.end(cx);
    }
    let pid = begun.child.id();
    let process = || ProcessIdentity::of(pid, "").and_then(|identity| open_verified(&identity));
    let watched = process();
    let over: tui::Ending = Box::pin(async move {
        while let Some(process) = &watched
            && !process.wait_gone(ONE_DAY).await
        {}
    });
    match tui::open(&tui::Args::default(), cx, Some(over))? {
        Left::Going(word) if !begun.has_ended() => cx.out.prose(&word)?,
        Left::HungUp => {}
        Left::Terminated => {
            if let Some(process) = process() {
                process.signal(Signal::TERM);
            }
            return begun.end(cx);
        }
        Left::Stopping(word) => {
            if !word.is_empty() {
                output::note(&word);
            }
            return begun.end(cx);
        }
        Left::Going(_) => return begun.end(cx),
    }
    Ok(output::done())
}
