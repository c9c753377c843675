//! `swarm worktree merge TASK`.

use crate::commands::answered;
use crate::commands::operate::{DryRun, shown};
use crate::commands::task::TaskArg;
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Submit the commits in the worktree of a task for merging
///
/// They go through review, merge, verification and publication like the work of an agent. Refused if there are uncommitted files,
/// because these would not be merged.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let command = swarm.submits(&args.task.id)?;
    if args.dry.dry_run {
        return shown(cx, &swarm.preview(&command)?);
    }
    let answer = swarm.ask(command)?;
    answered(cx, &answer)?;
    if !swarm.is_coordinated() {
        output::note("Note: no coordinator is running; `swarm run` merges it");
    }
    Ok(())
}
