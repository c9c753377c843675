//! `swarm review …`: submitted work that waits for a verdict.

pub mod approve;
pub mod list;
pub mod needs_changes;
pub mod show;

use clap::Subcommand;

use crate::commands::operate::DryRun;
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Review submitted work
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::Args),
    Show(show::Args),
    Approve(approve::Args),
    NeedsChanges(needs_changes::Args),
}

/// Without a coordinator the verdict is kept, and nothing happens.
fn say_who_goes_on(swarm: &Swarm, dry: DryRun) {
    if !dry.dry_run && !swarm.is_coordinated() {
        output::note("Note: no coordinator is running; `swarm run` continues with it");
    }
}

pub fn run(command: Command, cx: &Context) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(args, cx),
        Command::Show(args) => show::run(args, cx),
        Command::Approve(args) => approve::run(args, cx),
        Command::NeedsChanges(args) => needs_changes::run(args, cx),
    }
}
