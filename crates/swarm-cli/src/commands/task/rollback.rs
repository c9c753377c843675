//! `swarm task rollback TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{Confirm, Forced, carefully};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Revert the work of a task and queue it again
///
/// If it is not merged, its agent is stopped and its branch is reset to where it began. If it is merged, its commits are reverted on
/// trunk. The old state is kept under refs. Tasks that build on it are listed; --cascade reverts them too.
///
/// Example: swarm task rollback 1.2 --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// Also revert tasks that build on it
    #[arg(long)]
    pub cascade: bool,
    #[command(flatten)]
    pub forced: Forced,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let (cascade, force) = (args.cascade, args.forced.into());
    let command = Command::RollbackTask { task: args.task.id, cascade, force, expect: None };
    carefully(cx, &Swarm::open(cx)?, command, args.sure)
}
