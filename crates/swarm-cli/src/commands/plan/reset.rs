//! `swarm plan reset`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Put every task back to pending
///
/// Also lifts the lock of the execution profile. Branches and saved work stay.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    answered(cx, &Swarm::open(cx)?.ask(Command::ResetPlan)?)
}
