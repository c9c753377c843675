//! `swarm agent …`: agents at work.

pub mod list;
pub mod logs;
pub mod stop;

use clap::Subcommand;

use crate::cli::Context;
use crate::error::CliError;

/// Look at agents and stop them
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::Args),
    Logs(logs::Args),
    Stop(stop::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(args, cx),
        Command::Logs(args) => logs::run(args, cx),
        Command::Stop(args) => stop::run(args, cx),
    }
}
