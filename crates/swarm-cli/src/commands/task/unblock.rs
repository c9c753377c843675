//! `swarm task unblock TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Return a task to the queue
///
/// From blocked, failed, timeout or deferred. Its branch and its saved work stay.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::UnblockTask { task: args.task.id }, args.dry)
}
