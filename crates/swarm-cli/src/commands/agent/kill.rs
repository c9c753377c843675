//! `swarm agent kill WHO`.

use swarm_protocol::command::Command;

use crate::commands::operate::{Unasked, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Kill an agent immediately
///
/// Changes made in its current iteration are saved to a ref, and the worktree is reset to where the iteration began. The task
/// returns to the queue without a penalty and waits for `swarm task start TASK`, in autopilot too.
///
/// Example: swarm agent kill 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    #[command(flatten)]
    pub sure: Unasked,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = swarm.task_of(&args.who)?;
    intervene(cx, &swarm, Command::KillAgent { task }, args.sure.dry)
}
