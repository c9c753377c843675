//! `swarm task edit TASK`.

use swarm_protocol::command::Command;

use super::TaskArg;
use super::members::Members;
use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Change a task
///
/// Options that are not given stay unchanged. A running agent sees the change in its next iteration.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// Title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    #[command(flatten)]
    pub members: Members,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let patch = args.members.patch(args.title)?;
    if patch.is_empty() {
        let command = format!("swarm task edit {} --title TEXT", args.task.id);
        return Err(CliError::usage("No change given").run_instead(command));
    }
    intervene(cx, &Swarm::open(cx)?, Command::EditTask { task: args.task.id, patch }, args.dry)
}
