//! `swarm plan salvage`.

use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Deal with records that were lost to damage
///
/// Names what can still be read in the quarantine files, and records that you have seen it, so that the warning goes
/// away and the ledger can be written again. Nothing is ever deleted.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.salvage()?;
    answered(cx, &answer)
}
