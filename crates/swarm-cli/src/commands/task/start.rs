//! `swarm task start TASK…`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use crate::commands::operate::{DryRun, goes_on};
use crate::context::Context;
use crate::error::CliError;

/// Start tasks that wait for you
///
/// In semi-auto mode a ready task waits until you start it; once started, it continues through its retries. A task whose agent you
/// stopped waits in every mode. A named task that is not ready starts as soon as its dependencies are done; `--all` starts every
/// task that is ready now.
///
/// Example: swarm task start 1.1 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ids of the tasks
    #[arg(value_name = "TASK", required_unless_present = "all", conflicts_with = "all", num_args = 1..)]
    pub tasks: Vec<TaskId>,
    /// Start every ready task
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    goes_on(cx, Command::StartTasks { tasks: args.tasks }, args.dry)
}
