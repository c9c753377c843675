//! `swarm reservations …`: files that a task or a person has for themselves, for a while.

pub mod add;
pub mod list;
pub mod release;

use clap::Subcommand;

use crate::context::{At, Context};
use crate::error::CliError;

/// Show, make and release reservations of files
///
/// A task reserves the files of its `reserve` and `share` when an agent starts on it, all of them or none, and keeps them
/// until its work is merged or nobody works on it any more. Another task that wants one of them waits (or is blocked, or is
/// warned: `reservations.overlap`), and work that changes files which somebody else has reserved is not merged until they are
/// free.
///
/// You can reserve files too: `swarm reservations add 'src/ui/**'` keeps agents' work out of them while you edit.
///
/// Without a subcommand the list is shown. Example: swarm reservations release 3
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
    Add(add::Args),
    Release(release::Args),
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    match args.command {
        None => list::run(list::Args { at: args.at }, cx),
        Some(Command::List(args)) => list::run(args, cx),
        Some(Command::Add(args)) => add::run(args, cx),
        Some(Command::Release(args)) => release::run(args, cx),
    }
}
