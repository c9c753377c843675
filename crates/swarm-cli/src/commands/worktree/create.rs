//! `swarm worktree create TASK`.

use serde::Serialize;
use swarm_protocol::ids::TaskId;

use crate::cli::Context;
use crate::commands::operate::{DryRun, shown_lines};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Make the worktree of a task, or find it again
///
/// As an attempt would: on the branch swarm/TASK, with the files that `worktree.copy` names. A worktree that is
/// there is put in order and kept with everything in it. The name need not be a task of the plan.
///
/// Example: swarm worktree create 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Id of the task, or a name like one
    #[arg(value_name = "TASK")]
    pub task: TaskId,
    /// Start a new branch at this commit (default: the trunk)
    #[arg(long, value_name = "REF")]
    pub from: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Serialize)]
struct View {
    task: String,
    path: String,
    branch: String,
    tip: String,
    created: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry.dry_run {
        let lines = swarm.would_make_worktree(&args.task, args.from.as_deref())?;
        return shown_lines(cx, "worktree create", &lines);
    }
    let made = swarm.make_worktree(&args.task, args.from.as_deref())?;
    let view = View {
        task: args.task.to_string(),
        path: swarm.relative(&made.path),
        branch: made.branch,
        tip: made.tip.to_string(),
        created: !made.reattached,
    };
    cx.out.view(&view, |view| {
        let word = if view.created { "Made" } else { "Found" };
        format!("{word} {} on {}", view.path, view.branch)
    })
}
