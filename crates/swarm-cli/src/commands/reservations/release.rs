//! `swarm reservations release NUMBER`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Release a reservation, whoever has it
///
/// Tasks and merges that wait for its files continue. A task that works under it is not stopped.
///
/// Example: swarm reservations release 3
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number, as listed by `swarm reservations`
    #[arg(value_name = "NUMBER")]
    pub number: u64,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    intervene(cx, &swarm, Command::ReleaseReservation { number: args.number }, args.dry)
}
