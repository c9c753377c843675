//! `swarm task accept TASK --reason REASON`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::commands::reason::Reason;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Accept a task as done
///
/// For a task whose work is gone from trunk (reverted, or the branch was reset), or whose agent changed nothing. The reason is
/// recorded and shown with the task. To merge the work again, use `swarm run --retry`.
///
/// Example: swarm task accept 1.2 --reason 'not needed any more'
#[derive(Debug, clap::Args)]
#[command(override_usage = "swarm task accept [OPTIONS] <TASK> --reason <REASON>")]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub reason: Reason,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let reason = args.reason.text();
    let command = Command::AcceptTask { task: args.task.id, reason };
    intervene(cx, &Swarm::open(cx)?, command, args.dry)
}
