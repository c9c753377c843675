//! `swarm task remove TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Remove a task from the plan
///
/// Only if no agent works on it and no other task depends on it. Its history stays in the ledger.
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
