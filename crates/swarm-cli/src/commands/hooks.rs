//! `swarm hooks …`: programs of the person that are started when something happens.

pub mod list;
pub mod run;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// List and test hooks
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::Args),
    Run(run::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(args, cx),
        Command::Run(args) => run::run(args, cx),
    }
}
