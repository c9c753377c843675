//! `swarm task block TASK --reason REASON`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::commands::reason::Reason;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Block a task until `swarm task unblock`
///
/// An agent at work on it is stopped, and its work is kept.
///
/// Example: swarm task block 1.2 --reason 'waits for the design'
#[derive(Debug, clap::Args)]
#[command(override_usage = "swarm task block [OPTIONS] <TASK> --reason <REASON>")]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub reason: Reason,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let command = Command::BlockTask { task: args.task.id, reason: args.reason.text() };
    intervene(cx, &Swarm::open(cx)?, command, args.dry)
}
