//! `swarm plan reopen [ARCHIVE]`.

use crate::cli::Context;
use crate::commands::answered;
use crate::commands::operate::{Confirm, agreed};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Go on with a plan that was closed
///
/// Its ledger comes back out of the archive, open tasks are what they were when it was closed, and their worktrees come
/// back with everything that was in them. Refused while another plan is open: close that one first. Without ARCHIVE it
/// is the plan that was closed last; `swarm undo` right after `swarm close` does the same.
///
/// Example: swarm plan reopen plan-2026-01-13T10-00-00
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name, as a file in `.swarm/archive` has it
    #[arg(value_name = "ARCHIVE")]
    pub archive: Option<String>,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    reopen(cx, &Swarm::open(cx)?, args.archive.as_deref(), args.sure)
}

/// Also what an undo is right after a close.
pub fn reopen(cx: &Context, swarm: &Swarm, name: Option<&str>, sure: Confirm) -> Result<(), CliError> {
    let closed = swarm.closed_plan(name)?;
    if !agreed(cx, &swarm.preview_reopen(&closed)?, sure)? {
        return Ok(());
    }
    answered(cx, &swarm.reopen(&closed)?)
}
