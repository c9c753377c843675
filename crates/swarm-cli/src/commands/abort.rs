//! `swarm abort`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::operate::{Confirm, Forced, carefully};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Take the session back: agents stopped, trunk where it began, all work kept
///
/// Tasks that were merged wait as approved, so that `swarm run --retry` merges them again in order. Worktrees are
/// removed, and what was in them is kept under refs. `swarm undo` takes the abort back.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub forced: Forced,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let command = Command::Abort { force: args.forced.into(), expect: None };
    carefully(cx, &Swarm::open(cx)?, command, args.sure)
}
