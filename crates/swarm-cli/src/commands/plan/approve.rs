//! `swarm plan approve`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Agree to the plan as it is now
///
/// From then on `swarm plan approved` and `swarm status` say when its structure (not its statuses) has changed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::ApprovePlan, args.dry)
}
