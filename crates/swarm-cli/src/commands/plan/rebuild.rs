//! `swarm plan rebuild`.

use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Rebuild all files derived from the ledger
///
/// plan.json, plan.md, the snapshot and the second copy. No record is changed. If one copy of the ledger is damaged, it is
/// repaired from the other. A plan file that was edited by hand is kept beside the new one.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry.dry_run {
        return shown_lines(cx, "plan rebuild", &swarm.would_rebuild()?);
    }
    let made = swarm.rebuild()?;
    cx.out.view(&made, |made| made.join("\n"))
}
