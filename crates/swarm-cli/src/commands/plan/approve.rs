//! `swarm plan approve`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Approve the current plan
///
/// Afterwards `swarm plan approved` and `swarm status` report changes of its structure (not of its statuses).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::ApprovePlan, args.dry)
}
