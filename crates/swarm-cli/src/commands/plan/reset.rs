//! `swarm plan reset`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Reset every task to pending
///
/// Also unlocks the execution profile. Branches and saved work stay.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::ResetPlan, args.dry)
}
