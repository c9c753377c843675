//! `swarm task move TASK`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Move a task within its phase or to another one
#[derive(Debug, clap::Args)]
#[group(id = "place", required = true, multiple = true)]
pub struct Place {
    /// Move after this task
    #[arg(long, value_name = "OTHER", conflicts_with = "first")]
    pub after: Option<TaskId>,
    /// Move to the start of the phase
    #[arg(long)]
    pub first: bool,
    /// Move to this phase (default: that of OTHER, else its own)
    #[arg(long, value_name = "N")]
    pub phase: Option<u32>,
}

/// Move a task within its phase or to another one
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let Place { after, first: _, phase } = args.place;
    intervene(cx, &Swarm::open(cx)?, Command::MoveTask { task: args.task.id, after, phase }, args.dry)
}
