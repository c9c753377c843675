//! `swarm task start TASK…`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Let tasks start that wait for your word
///
/// In the mode semi-auto a ready task waits until you start it; once started it goes on through its retries. A task
/// whose agent you stopped waits for your word in every mode. A task that is named here and still waits for others
/// starts as soon as they are done; `--all` means those that are ready now.
///
/// Example: swarm task start 1.1 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ids of the tasks
    #[arg(value_name = "TASK", required_unless_present = "all", conflicts_with = "all", num_args = 1..)]
    pub tasks: Vec<TaskId>,
    /// Every task that is ready now
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    intervene(cx, &Swarm::open(cx)?, Command::StartTasks { tasks: args.tasks }, args.dry)
}
