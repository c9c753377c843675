//! `swarm plan profile lock`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Lock the execution profile until `swarm plan reset`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::LockProfile, args.dry)
}
