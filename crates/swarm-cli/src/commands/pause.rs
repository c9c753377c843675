//! `swarm pause`.

use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;

use super::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Pause the swarm until `swarm resume`
///
/// Nothing new starts. Agents at work finish their iteration and wait at its boundary. A pause outlives the coordinator.
///
/// Example: swarm pause --reason lunch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Reason, recorded in the ledger
    #[arg(long, alias = "why", value_name = "REASON", default_value = "", hide_default_value = true)]
    pub reason: String,
    /// Stop agents at work now; they go first at `swarm resume`
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(
        cx,
        &Swarm::open(cx)?,
        Command::Pause { reason: PauseReason::User, why: args.reason, force: args.force },
        args.dry,
    )
}
