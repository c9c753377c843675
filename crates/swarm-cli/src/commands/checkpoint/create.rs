//! `swarm checkpoint create [NAME]`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, over, shown};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Save plan, trunk, branches and uncommitted work of all worktrees
///
/// Agents keep working; a worktree that changes meanwhile is marked as moving. A named checkpoint is kept until it is deleted.
///
/// Example: swarm checkpoint create before-the-big-refactoring
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the checkpoint (default: the current time)
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let (swarm, command) = (Swarm::open(cx)?, Command::MakeCheckpoint { name: args.name });
    if args.dry.dry_run {
        return shown(cx, &swarm.preview(&command)?);
    }
    over(cx, &swarm.operate(command)?)
}
