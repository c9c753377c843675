//! `swarm worktree create TASK`.

use swarm_protocol::ids::TaskId;

use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Create the worktree of a task, or repair the existing one
///
/// Like an attempt, it uses the branch swarm/TASK and copies the files named by `worktree.copy`. An existing worktree keeps
/// everything in it. The name need not be a task of the plan.
///
/// Example: swarm worktree create 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task id, or another name
    #[arg(value_name = "TASK")]
    pub task: TaskId,
    /// Commit to start a new branch at (default: trunk)
    #[arg(long, value_name = "REF")]
    pub from: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry.dry_run {
        let lines = swarm.would_make_worktree(&args.task, args.from.as_deref())?;
        return shown_lines(cx, "worktree create", &lines);
    }
    let view = swarm.make_worktree(&args.task, args.from.as_deref())?;
    cx.out.view(&view, |view| {
        let word = if view.created { "Made" } else { "Found" };
        format!("{word} {} on {}", view.path, view.branch)
    })
}
