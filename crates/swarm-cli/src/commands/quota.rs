//! `swarm quota …`: allowances of services that are used up, and when they are back.

pub mod hold;
pub mod list;
pub mod open;

use clap::Subcommand;

use crate::context::{At, Context};
use crate::error::CliError;

/// Show used-up quotas, open or hold them
///
/// When a service reports a used-up quota, no profile of that group starts (or none at all: `quota.scope`). A small probe asks the
/// service at the reset time that the program named. Then waiting tasks go first, without a penalty. Until then the profile's
/// `fallback` is used, if it has one.
///
/// Without a subcommand the list is shown. Example: swarm quota open claude
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
