//! `swarm plan profile …`: how many tasks of the plan may run at once.

pub mod show;
pub mod set;
pub mod lock;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Show and change the execution profile
#[derive(Debug, Subcommand)]
pub enum Command {
    Show(show::Args),
    Set(set::Args),
    Lock(lock::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Show(args) => show::run(args, cx),
        Command::Set(args) => set::run(args, cx),
        Command::Lock(args) => lock::run(args, cx),
    }
}
