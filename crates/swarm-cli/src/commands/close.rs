//! `swarm close`: the end of a plan.

use crate::commands::answered;
use crate::commands::operate::{Confirm, agreed};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Close the plan and archive its ledger
///
/// Work on open tasks ends, and the archive keeps their status. The plan is exported once more, and the ledger moves to
/// `.swarm/archive/`. A checkpoint is made and worktrees are removed; `swarm restore` lists what was in them. Refused while agents
/// work, unless `--stop` is given. `swarm undo` reverts it until the next plan begins, `swarm plan reopen` at any time.
///
/// Example: swarm close --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stop agents at work; their work is kept
    #[arg(long)]
    pub stop: bool,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if !args.sure.dry_run {
        swarm.finish_interrupted()?;
    }
    if !agreed(cx, &swarm.preview_close(args.stop)?, args.sure)? {
        return Ok(());
    }
    let answer = swarm.close(args.stop)?;
    answered(cx, &answer)
}
