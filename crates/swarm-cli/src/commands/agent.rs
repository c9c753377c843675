//! `swarm agent …`: agents at work.

pub mod stop;

use clap::Subcommand;

use crate::cli::Context;
use crate::error::CliError;

/// Deal with agents at work
#[derive(Debug, Subcommand)]
pub enum Command {
    Stop(stop::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Stop(args) => stop::run(args, cx),
    }
}
