//! `swarm task defer TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Put a task off until `swarm task unblock`
///
/// An agent that works on it is stopped, and its work is kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.ask(Command::DeferTask { task: args.task.id })?;
    answered(cx, &answer)
}
