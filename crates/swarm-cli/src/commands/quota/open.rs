//! `swarm quota open GROUP`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Treat a quota as restored
///
/// Waiting tasks go first. If the service still refuses, the quota closes again and nothing is lost.
///
/// Example: swarm quota open claude
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Quota group, as listed by `swarm quota`
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
