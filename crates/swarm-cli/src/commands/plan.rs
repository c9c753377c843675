//! `swarm plan …`: the plan as a whole, and the ledger it lives in.

pub mod make;
pub mod refine;
pub mod save;
pub mod show;
pub mod edit;
pub mod history;
pub mod approve;
pub mod approved;
pub mod profile;
pub mod export;
pub mod import;
pub mod reopen;
pub mod reset;
pub mod verify;
pub mod rebuild;
pub mod salvage;

use clap::Subcommand;

use crate::context::Context;
use crate::error::CliError;

/// Manage the plan
#[derive(Debug, Subcommand)]
pub enum Command {
    Make(make::Args),
    Refine(refine::Args),
    Save(save::Args),
    Show(show::Args),
    Edit(edit::Args),
    History(history::Args),
    Approve(approve::Args),
    Approved(approved::Args),
    #[command(subcommand)]
    Profile(profile::Command),
    Export(export::Args),
    Import(import::Args),
    Reset(reset::Args),
    Reopen(reopen::Args),
    Verify(verify::Args),
    Rebuild(rebuild::Args),
    Salvage(salvage::Args),
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::Make(args) => make::run(args, cx),
        Command::Refine(args) => refine::run(args, cx),
        Command::Save(args) => save::run(args, cx),
        Command::Show(args) => show::run(args, cx),
        Command::Edit(args) => edit::run(args, cx),
        Command::History(args) => history::run(args, cx),
        Command::Approve(args) => approve::run(args, cx),
        Command::Approved(args) => approved::run(args, cx),
        Command::Profile(command) => profile::run(command, cx),
        Command::Export(args) => export::run(args, cx),
        Command::Import(args) => import::run(args, cx),
        Command::Reset(args) => reset::run(args, cx),
        Command::Reopen(args) => reopen::run(args, cx),
        Command::Verify(args) => verify::run(args, cx),
        Command::Rebuild(args) => rebuild::run(args, cx),
        Command::Salvage(args) => salvage::run(args, cx),
    }
}
