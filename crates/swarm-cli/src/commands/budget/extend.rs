//! `swarm budget extend [TASK]`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Allow the same amount again
///
/// For a task, or for the whole swarm when none is named, counted from what is spent now. Waiting work continues.
///
/// Example: swarm budget extend 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (default: the whole swarm)
    #[arg(value_name = "TASK")]
    pub task: Option<TaskId>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::ExtendBudget { task: args.task }, args.dry)
}
