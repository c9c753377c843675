//! `swarm plan reopen [ARCHIVE]`.

use crate::commands::answered;
use crate::commands::operate::{Confirm, agreed};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Reopen a closed plan
///
/// Its ledger returns from the archive, open tasks get back their status, and their worktrees get back their contents. Refused while
/// another plan is open. Without ARCHIVE this is the plan that was closed last; `swarm undo` right after `swarm close` does the same.
///
/// Example: swarm plan reopen plan-2026-01-13T10-00-00
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of a file in `.swarm/archive`
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
