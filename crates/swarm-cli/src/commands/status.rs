//! `swarm status`: the swarm at a glance, on one screen.

mod screen;

use crate::cli::{At, Context};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Show where things stand
///
/// Goal, phases, agents at work, what comes next and why, and what waits for you.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let (view, now) = Swarm::open(cx)?.status(args.at.at)?;
    cx.out.view(&view, |view| screen::screen(view, now, cx.out.colour))
}
