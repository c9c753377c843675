//! `swarm checkpoint delete NAME`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene, over};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Delete a checkpoint
///
/// Refused while an undo or the current session needs it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name, or number in `swarm checkpoint list`
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let name = swarm.checkpoint_named(&args.name)?.checkpoint.name;
    let command = Command::DeleteCheckpoint { name };
    if args.dry.dry_run {
        return intervene(cx, &swarm, command, args.dry);
    }
    over(cx, &swarm.operate(command)?)
}
