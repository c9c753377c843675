//! `swarm task defer TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Defer a task until `swarm task unblock`
///
/// An agent at work on it is stopped, and its work is kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::DeferTask { task: args.task.id }, args.dry)
}
