//! `swarm quota open GROUP`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Take a quota for restored, without waiting for it
///
/// What waited for it goes first. If the service still says no, the gate closes again and nothing is lost.
///
/// Example: swarm quota open claude
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The group, as `swarm quota` names it
    #[arg(value_name = "GROUP")]
    pub group: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let group = swarm.quota_group(&args.group)?;
    intervene(cx, &swarm, Command::OpenQuota { group }, args.dry)
}
