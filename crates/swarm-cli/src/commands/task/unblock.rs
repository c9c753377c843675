//! `swarm task unblock TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Put a task back into the queue
///
/// From blocked, failed, timeout or deferred. Its branch and what was saved of its work stay.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.ask(Command::UnblockTask { task: args.task.id })?;
    answered(cx, &answer)
}
