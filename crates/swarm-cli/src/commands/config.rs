//! `swarm config …`: the settings in force.

pub mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Show the configuration
#[derive(Debug, Subcommand)]
pub enum Command {
    Show(show::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Show(args) => show::run(args, cx),
    }
}
