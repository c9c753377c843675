//! `swarm quota hold GROUP`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Keep a quota closed until `swarm quota open`
///
/// The scheduled probe is cancelled, and nothing resumes automatically.
///
/// Example: swarm quota hold claude
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
    intervene(cx, &swarm, Command::HoldQuota { group }, args.dry)
}
