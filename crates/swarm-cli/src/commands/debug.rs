//! `swarm debug …`: the swarm's own judgement on recorded things.

pub mod classify;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Inspect recorded runs
#[derive(Debug, Subcommand)]
pub enum Command {
    Classify(classify::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Classify(args) => classify::run(&args, cx),
    }
}
