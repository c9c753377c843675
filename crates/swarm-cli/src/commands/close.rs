//! `swarm close`: the end of a plan.

use crate::cli::Context;
use crate::commands::answered;
use crate::commands::operate::{Confirm, agreed};
use crate::error::CliError;
use crate::swarm::Swarm;

/// End the plan and put its ledger into the archive
///
/// Open tasks are not worked on any more, and the archive says what each of them was. The plan is exported once more, and
/// the ledger is renamed into `.swarm/archive/`. Worktrees go; what is in them is kept (`swarm restore` lists it), and a
/// checkpoint is made before. Refused while agents work, unless `--stop` is given. `swarm undo` takes it back until the
/// next plan begins; `swarm plan reopen` does so at any time.
///
/// Example: swarm close --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stop agents that are still working; their work is kept
    #[arg(long)]
    pub stop: bool,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if !agreed(cx, &swarm.preview_close(args.stop)?, args.sure)? {
        return Ok(());
    }
    let answer = swarm.close(args.stop)?;
    answered(cx, &answer)
}
