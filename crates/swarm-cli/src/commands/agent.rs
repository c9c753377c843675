//! `swarm agent …`: agents at work.

pub mod debug;
pub mod kill;
pub mod list;
pub mod logs;
pub mod message;
pub mod redirect;
pub mod revive;
pub mod stop;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// List agents, message them, stop them
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::Args),
    Logs(logs::Args),
    Message(message::Args),
    Stop(stop::Args),
    Kill(kill::Args),
    Redirect(redirect::Args),
    Debug(debug::Args),
    Revive(revive::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(args, cx),
        Command::Logs(args) => logs::run(args, cx),
        Command::Message(args) => message::run(args, cx),
        Command::Stop(args) => stop::run(args, cx),
        Command::Kill(args) => kill::run(args, cx),
        Command::Redirect(args) => redirect::run(args, cx),
        Command::Debug(args) => debug::run(args, cx),
        Command::Revive(args) => revive::run(args, cx),
    }
}
