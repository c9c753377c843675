//! `swarm task block TASK REASON`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Keep a task from being worked on until `swarm task unblock`
///
/// An agent that works on it is stopped, and its work is kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// What it waits for
    #[arg(value_name = "REASON")]
    pub reason: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::BlockTask { task: args.task.id, reason: args.reason }, args.dry)
}
