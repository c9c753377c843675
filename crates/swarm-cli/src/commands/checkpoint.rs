//! `swarm checkpoint …`: moments that can be returned to.

pub mod create;
pub mod delete;
pub mod list;
pub mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Create and list checkpoints to roll back to
#[derive(Debug, Subcommand)]
pub enum Command {
    Create(create::Args),
    List(list::Args),
    Show(show::Args),
    Delete(delete::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Create(args) => create::run(args, cx),
        Command::List(args) => list::run(args, cx),
        Command::Show(args) => show::run(args, cx),
        Command::Delete(args) => delete::run(args, cx),
    }
}
