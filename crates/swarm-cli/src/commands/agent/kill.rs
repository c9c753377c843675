//! `swarm agent kill TASK`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Kill the agent that works on a task, at once
///
/// What its iteration has changed goes to a ref, and the worktree back to where the iteration began. The task goes back to
/// the queue without a penalty and waits there for `swarm task start TASK`, in autopilot too.
///
/// Example: swarm agent kill 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A task (1.2), or the agent that has it (ed-001)
    #[arg(value_name = "WHO")]
    pub who: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = swarm.task_of(&args.who)?;
    intervene(cx, &swarm, Command::KillAgent { task }, args.dry)
}
