//! `swarm close`: the end of a plan.

use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// End the plan and put its ledger into the archive
///
/// Open tasks are cancelled, the plan is exported once more, and the ledger is renamed into `.swarm/archive/`, where
/// it stays for good. Worktrees go; what is in them is kept (`swarm restore` lists it), and a checkpoint is made before.
/// Refused while agents work, unless `--stop` is given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stop agents that are still working; their work is kept
    #[arg(long)]
    pub stop: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let answer = swarm.close(args.stop)?;
    answered(cx, &answer)
}
