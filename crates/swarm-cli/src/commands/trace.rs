//! `swarm trace …`: what happened as spans, for tools that draw them.

pub mod export;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Export the history for tracing tools
#[derive(Debug, Subcommand)]
pub enum Command {
    Export(export::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Export(args) => export::run(&args, cx),
    }
}
