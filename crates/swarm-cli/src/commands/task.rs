//! `swarm task …`: single tasks of the plan.

pub mod add;
pub mod edit;
pub mod list;
pub mod show;
pub mod diff;
mod conflict;
pub mod start;
pub mod r#move;
pub mod block;
pub mod unblock;
pub mod defer;
pub mod cancel;
pub mod accept;
pub mod waive;
pub mod split;
pub mod remove;
pub mod rollback;
pub mod members;

use clap::Subcommand;
use swarm_protocol::ids::TaskId;

use crate::context::Context;
use crate::error::CliError;

/// Manage tasks of the plan
#[derive(Debug, Subcommand)]
pub enum Command {
    Add(add::Args),
    Edit(edit::Args),
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    Start(start::Args),
    Move(r#move::Args),
    Block(block::Args),
    Unblock(unblock::Args),
    Defer(defer::Args),
    Cancel(cancel::Args),
    Accept(accept::Args),
    Waive(waive::Args),
    Split(split::Args),
    Remove(remove::Args),
    Rollback(rollback::Args),
}

/// The task a command is about.
#[derive(Debug, clap::Args)]
pub struct TaskArg {
    /// Id of the task, like 1.2 or add-login
    #[arg(value_name = "TASK")]
    pub id: TaskId,
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Add(args) => add::run(args, cx),
        Command::Edit(args) => edit::run(args, cx),
        Command::List(args) => list::run(args, cx),
        Command::Show(args) => show::run(args, cx),
        Command::Diff(args) => diff::run(args, cx),
        Command::Start(args) => start::run(args, cx),
        Command::Move(args) => r#move::run(args, cx),
        Command::Block(args) => block::run(args, cx),
        Command::Unblock(args) => unblock::run(args, cx),
        Command::Defer(args) => defer::run(args, cx),
        Command::Cancel(args) => cancel::run(args, cx),
        Command::Accept(args) => accept::run(args, cx),
        Command::Waive(args) => waive::run(args, cx),
        Command::Split(args) => split::run(args, cx),
        Command::Remove(args) => remove::run(args, cx),
        Command::Rollback(args) => rollback::run(args, cx),
    }
}
