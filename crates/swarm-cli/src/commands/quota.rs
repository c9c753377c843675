//! `swarm quota …`: allowances of services that are used up, and when they are back.

pub mod hold;
pub mod list;
pub mod open;

use clap::Subcommand;

use crate::cli::{At, Context};
use crate::error::CliError;

/// Look at used-up quotas, and decide about them
///
/// When a service says that the allowance is used up, nothing of that group of profiles is started (or nothing at all:
/// `quota.scope`). The time it comes back is taken from what the program says; one small probe then asks the service,
/// and what waits goes first, without a penalty. A profile's `fallback` is used meanwhile, where there is one.
///
/// Without a command the list is shown. Example: swarm quota open claude
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Open(open::Args),
    Hold(hold::Args),
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    match args.command {
        None => list::run(list::Args { at: args.at }, cx),
        Some(Command::List(args)) => list::run(args, cx),
        Some(Command::Open(args)) => open::run(args, cx),
        Some(Command::Hold(args)) => hold::run(args, cx),
    }
}
