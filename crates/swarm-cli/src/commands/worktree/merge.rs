//! `swarm worktree merge TASK`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

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
    let command = submits(&swarm, &args.task.id)?;
    if args.dry.dry_run {
        return shown(cx, &swarm.preview(&command)?);
    }
    let answer = swarm.ask(command)?;
    answered(cx, &answer)?;
    if !swarm.has_coordinator() {
        output::note("Note: no coordinator is running; `swarm run` merges it");
    }
    Ok(())
}

/// The work in the worktree of a task as a command; refused where files of it are not committed.
pub fn submits(swarm: &Swarm, task: &TaskId) -> Result<Command, CliError> {
    let work = swarm.submission(task)?;
    if work.uncommitted > 0 {
        let files = if work.uncommitted == 1 {
            "1 file is".into()
        } else {
            format!("{} files are", work.uncommitted)
        };
        return Err(CliError::changed_meanwhile(format!("Not all of {task} is committed"))
            .because(format!("{files} not committed in its worktree"))
            .say("Commit what belongs to the task, or delete it"));
    }
    Ok(Command::SubmitWork { task: task.clone(), base: work.base, tip: work.tip, tree: work.tree })
}
