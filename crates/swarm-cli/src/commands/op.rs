//! `swarm op …`: what people and the swarm did, as things that can be taken back.

pub mod log;
pub mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Show operations and whether they can be undone
#[derive(Debug, Subcommand)]
pub enum Command {
    Log(log::Args),
    Show(show::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Log(args) => log::run(args, cx),
        Command::Show(args) => show::run(args, cx),
    }
}
