//! `swarm pause`.

use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;

use super::answered;
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
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let answer =
        Swarm::open(cx)?.ask(Command::Pause { reason: PauseReason::User, why: args.why, force: false })?;
    answered(cx, &answer)
}
