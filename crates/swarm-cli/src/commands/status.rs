//! `swarm status`: the swarm at a glance, on one screen.

pub mod screen;
mod watch;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output;
use crate::swarm::{Glance, Presence, Swarm};

/// Show the state of the swarm
///
/// Goal, phases, agents at work, next tasks with the reason, and what waits for you. `--watch` follows changes until `q`; with
/// `--json` it prints one object per change.
///
/// Example: swarm status --watch
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
    /// Follow changes until `q`
    #[arg(short = 'w', long, conflicts_with = "at")]
    pub watch: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open_unread(cx)?;
    if args.watch {
        return watch::run(&swarm, cx);
    }
    let Glance { mut view, now, under_way, there } = swarm.glance(args.at.at)?;
    let there = args.at.at.is_none().then(|| there.unwrap_or_else(|| swarm.presence()));
    view.coordinator = there.map(|there| there.is_somebody());
    cx.out.view(&view, |view| screen::screen(view, now, cx.out.colour))?;
    if let Some(there) = &there {
        swarm.note_that_nothing_is_recorded();
        if matches!(there, Presence::Answers) {
            swarm.note_another_release();
        }
        match view.agents.is_empty() {
            false => swarm.note_that_nobody_coordinates(there),
            // A pause has its own sentence, with the command that ends it.
            true if view.counts.for_a_run() > 0 && view.paused.is_empty() => {
                swarm.note_that_nothing_goes_on(there)
            }
            true => {}
        }
    }
    if view.coordinator == Some(false)
        && let Some(running) = under_way
    {
        output::note(&format!("Note: `{running}` is not finished; the next `swarm run` finishes it"));
    }
    if args.at.at.is_none()
        && let Some(trunk) = &view.trunk
        // Where git cannot be asked that was told already.
        && let Ok(Some(gone)) = swarm.trunk_is_gone(trunk)
    {
        output::note(&format!("Note: {}", output::harmless(&gone)));
    }
    Ok(())
}
