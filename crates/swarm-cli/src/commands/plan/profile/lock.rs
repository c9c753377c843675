//! `swarm plan profile lock`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Allow no more changes of the execution profile until `swarm plan reset`
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    answered(cx, &Swarm::open(cx)?.ask(Command::LockProfile)?)
}
