//! `swarm task remove TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Take a task out of the plan
///
/// Only a task that nobody works on and no other task depends on. Its history stays in the ledger.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.ask(Command::RemoveTask { task: args.task.id })?;
    answered(cx, &answer)
}
