//! `swarm agent stop TASK`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::commands::task::TaskArg;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Stop the agent that works on a task
///
/// What it has not committed is saved to a ref, and the task goes back to the queue without a penalty. There it waits
/// for `swarm task start TASK`, in autopilot too.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::StopAgent { task: args.task.id }, args.dry)
}
