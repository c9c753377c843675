//! `swarm task cancel TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{Unasked, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Cancel a task
///
/// An agent at work on it is stopped; its branch stays. Tasks that depend on it keep waiting.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub sure: Unasked,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::CancelTask { task: args.task.id }, args.sure.dry)
}
