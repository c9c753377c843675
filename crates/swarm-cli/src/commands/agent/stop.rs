//! `swarm agent stop WHO`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Stop an agent
///
/// Uncommitted changes are saved to a ref, and the task returns to the queue without a penalty. It waits for
/// `swarm task start TASK`, in autopilot too.
///
/// Example: swarm agent stop 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = swarm.task_of(&args.who)?;
    intervene(cx, &swarm, Command::StopAgent { task }, args.dry)
}
