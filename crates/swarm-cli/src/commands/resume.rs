//! `swarm resume`.

use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;

use super::answered;
use crate::cli::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Go on after `swarm pause`
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let answer = Swarm::open(cx)?.ask(Command::Resume { reason: PauseReason::User })?;
    answered(cx, &answer)
}
