//! `swarm agent stop TASK`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::answered;
use crate::commands::task::TaskArg;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Stop the agent that works on a task
///
/// What it has not committed is saved to a ref, and the task goes back to the queue without a penalty.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.ask(Command::StopAgent { task: args.task.id })?;
    answered(cx, &answer)
}
