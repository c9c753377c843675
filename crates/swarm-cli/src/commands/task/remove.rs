//! `swarm task remove TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Take a task out of the plan
///
/// Only a task that nobody works on and no other task depends on. Its history stays in the ledger.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::RemoveTask { task: args.task.id }, args.dry)
}
