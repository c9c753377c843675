//! `swarm plan rebuild`.

use crate::cli::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Make everything anew that is made from the ledger
///
/// plan.json, plan.md, the snapshot and the second copy. The ledger itself is only read. A projection that was edited
/// by hand is kept beside the new one.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let made = Swarm::open(cx)?.rebuild()?;
    cx.out.view(&made, |made| made.join("\n"))
}
