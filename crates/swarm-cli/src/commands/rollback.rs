//! `swarm rollback NAME|--session`.

use swarm_protocol::command::Command;

use crate::commands::operate::{Confirm, Forced, carefully};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Roll tasks, trunk, branches and worktrees back to a checkpoint
///
/// Agents are stopped and their work is saved; then everything moves together. After a crash the next start finishes it. Your own
/// commits and your uncommitted and untracked files stay, and so do the goal and the texts of tasks as they are now. Nothing is removed
/// from the ledger, and `swarm undo` reverts the rollback.
///
/// Example: swarm rollback before-merge-1.2 --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Checkpoint: name, or number in `swarm checkpoint list`
    #[arg(value_name = "NAME", required_unless_present = "session")]
    pub name: Option<String>,
    /// Roll back to the start of this session
    #[arg(long, conflicts_with = "name")]
    pub session: bool,
    #[command(flatten)]
    pub forced: Forced,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let to = match args.name {
        Some(name) => Some(swarm.checkpoint_named(&name)?.checkpoint.name),
        None => None,
    };
    carefully(cx, &swarm, Command::Rollback { to, force: args.forced.into(), expect: None }, args.sure)
}
