//! `swarm worktree cleanup`.

use swarm_protocol::deed::CleanedUp;
use swarm_protocol::ids::TaskId;

use crate::commands::operate::{DryRun, each, told_beside};
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::swarm::Swarm;

/// Remove worktrees that are no longer needed
///
/// A worktree is removed only if no process uses it, every commit is held by a ref, uncommitted files were saved, and every ignored
/// file can be regenerated (`worktree.disposable` adds to these). Otherwise it stays and the reason is shown; `--force` saves the
/// whole folder first. `swarm restore` brings back anything.
///
/// Example: swarm worktree cleanup --all --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ids of the tasks
    #[arg(value_name = "TASK", required_unless_present = "all", conflicts_with = "all", num_args = 1..)]
    pub tasks: Vec<TaskId>,
    /// Remove those of all tasks that are done, cancelled or no longer in the plan
    #[arg(long)]
    pub all: bool,
    /// Also remove worktrees with files that may be of value; the whole folder is saved first
    #[arg(long, conflicts_with = "all")]
    pub force: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let tasks = if args.all { swarm.with_worktrees_of_closed()? } else { args.tasks };
    let (lines, refused) = each(&tasks, |task| match swarm.clean_up(task, args.force, args.dry.dry_run) {
        // Of all of them each was there a moment ago: somebody else was quicker.
        Err(error) if args.all && error.kind == "nothing_there" => Ok(None),
        cleaned => cleaned.map(Some),
    });
    let lines: Vec<CleanedUp> = lines.into_iter().flatten().collect();
    match refused {
        // The error is all that there is to say.
        Some(error) if lines.is_empty() => Err(error),
        refused => told_beside(cx, &lines[..], refused, text),
    }
}

fn text(lines: &[CleanedUp]) -> String {
    if lines.is_empty() {
        return "No worktrees to remove".into();
    }
    let word = |line: &CleanedUp| match (line.removed, line.dry_run) {
        (true, false) => "removed",
        (true, true) => "would be removed",
        (false, _) => "stays",
    };
    let cells = |line: &CleanedUp| {
        let why = match (&line.why, &line.saved) {
            (Some(why), _) => why.clone(),
            (None, Some(saved)) => format!("saved as {saved}"),
            (None, None) => String::new(),
        };
        vec![line.task.to_string(), word(line).to_owned(), harmless(&why)]
    };
    table(&["task", "worktree", "why"], lines.iter().map(cells))
}
