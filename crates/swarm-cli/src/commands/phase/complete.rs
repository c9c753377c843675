//! `swarm phase complete N`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Complete a phase whose tasks are all done or cancelled
///
/// A phase completes automatically with its last open task; this is for a phase without tasks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the phase
    #[arg(value_name = "N")]
    pub phase: u32,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::CompletePhase { phase: args.phase }, args.dry)
}
