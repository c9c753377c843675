//! `swarm task cancel TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Give a task up
///
/// An agent that works on it is stopped; its branch stays. Tasks that depend on it go on waiting.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.ask(Command::CancelTask { task: args.task.id })?;
    answered(cx, &answer)
}
