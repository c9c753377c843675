//! `swarm phase …`: phases of the plan.

pub mod complete;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Manage phases of the plan
#[derive(Debug, Subcommand)]
pub enum Command {
    Complete(complete::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Complete(args) => complete::run(args, cx),
    }
}
