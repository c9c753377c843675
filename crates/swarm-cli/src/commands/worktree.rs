//! `swarm worktree …`: the worktrees of tasks, by hand.

pub mod create;
pub mod merge;
pub mod cleanup;
pub mod list;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Create, merge, remove and list worktrees
#[derive(Debug, Subcommand)]
pub enum Command {
    Create(create::Args),
    Merge(merge::Args),
    Cleanup(cleanup::Args),
    List(list::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Create(args) => create::run(args, cx),
        Command::Merge(args) => merge::run(args, cx),
        Command::Cleanup(args) => cleanup::run(args, cx),
        Command::List(args) => list::run(args, cx),
    }
}
