//! `swarm pause`.

use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;

use super::operate::{DryRun, intervene};
use crate::cli::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Start nothing new until `swarm resume`
///
/// Agents that are working end their iteration and wait at its boundary. A pause outlives the coordinator.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Say why, for whoever looks later
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub why: String,
    /// Do not wait for the boundary: stop those who are at work; they go on first at `swarm resume`
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(
        cx,
        &Swarm::open(cx)?,
        Command::Pause { reason: PauseReason::User, why: args.why, force: args.force },
        args.dry,
    )
}
