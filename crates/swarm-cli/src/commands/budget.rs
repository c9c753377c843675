//! `swarm budget …`: what was spent of what may be spent.

pub mod extend;
pub mod show;

use clap::Subcommand;

use crate::context::{At, Context};
use crate::error::CliError;

/// Show and extend budgets
///
/// Budgets are set in the configuration (`budget.task`, `budget.session`: tokens, dollars, time). A task over its budget is
/// blocked after the current iteration; a swarm over its budget pauses. Nothing is killed.
///
/// Without a subcommand the list is shown. Example: swarm budget extend 1.2
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
    Show(show::Args),
    Extend(extend::Args),
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    match args.command {
        None => show::run(show::Args { at: args.at }, cx),
        Some(Command::Show(args)) => show::run(args, cx),
        Some(Command::Extend(args)) => extend::run(args, cx),
    }
}
