//! `swarm plan approve`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Agree to the plan as it is now
///
/// From then on `swarm plan approved` and `swarm status` say when its structure (not its statuses) has changed.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    answered(cx, &Swarm::open(cx)?.ask(Command::ApprovePlan)?)
}
