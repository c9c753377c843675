//! `swarm abort`.

use swarm_protocol::command::Command;

use crate::commands::operate::{Confirm, Forced, carefully};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Undo the whole session: stop agents, move trunk back, keep all work
///
/// Merged tasks become approved, so that `swarm run --retry` merges them again in order. Worktrees are removed, and their
/// contents are kept under refs. `swarm undo` reverts the abort.
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
