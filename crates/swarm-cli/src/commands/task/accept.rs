//! `swarm task accept TASK --reason REASON`.

use swarm_protocol::command::Command;

use super::TaskArg;
use super::waive::Why;
use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Take a task for done as it is
///
/// For a task whose work has gone from trunk (somebody reverted it or reset the branch), or whose agent changed nothing.
/// The reason stands in the ledger, and the task says so for good. To merge the work again: `swarm run --retry`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub why: Why,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let reason = args.why.reason.or(args.why.words).unwrap_or_default();
    let command = Command::AcceptTask { task: args.task.id, reason };
    intervene(cx, &Swarm::open(cx)?, command, args.dry)
}
