//! `swarm worktree cleanup`.

use serde::Serialize;
use swarm_engine::hands::remove::Removal;
use swarm_engine::hands::worktree::overview::Kind;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;

use crate::cli::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::swarm::Swarm;

/// Remove worktrees that are not needed any more, only by proof
///
/// A worktree goes when nobody works in it, every commit is held by a ref, what is not committed was saved, and
/// every ignored file in it can be made again. What stays is shown with the reason. `swarm restore` brings
/// anything back.
///
/// Example: swarm worktree cleanup --all --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ids of the tasks
    #[arg(value_name = "TASK", required_unless_present = "all", conflicts_with = "all", num_args = 1..)]
    pub tasks: Vec<TaskId>,
    /// Of every task that is done, cancelled or no longer in the plan
    #[arg(long)]
    pub all: bool,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    task: String,
    removed: bool,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let rows = swarm.rows_if_any()?;
    let tasks = if args.all { closed(&swarm)? } else { args.tasks };
    let mut lines = Vec::new();
    for task in tasks {
        let row = rows.iter().find(|row| row.id == task);
        let why = match Swarm::worked_on(row) {
            Some(why) => Some(why),
            None => match swarm.give_up_worktree(&task, args.dry_run)? {
                Removal::Removed => None,
                Removal::Kept { why } => Some(why.to_string()),
            },
        };
        lines.push(Line { task: task.to_string(), removed: why.is_none(), dry_run: args.dry_run, why });
    }
    cx.out.view(&lines, |lines| text(lines))
}

/// Tasks with a worktree that the swarm will not come back to by itself.
fn closed(swarm: &Swarm) -> Result<Vec<TaskId>, CliError> {
    let rows = swarm.rows_if_any()?;
    let open = |task: &TaskId| {
        let row = rows.iter().find(|row| row.id == *task);
        row.is_some_and(|row| !matches!(row.status, Status::Done | Status::Cancelled))
    };
    let tasks = swarm.seen_worktrees()?.into_iter().filter_map(|seen| match seen.kind {
        Kind::Task(task) | Kind::HalfMade(task) | Kind::FolderGone(task) => Some(task),
        Kind::Merge | Kind::Pool { .. } | Kind::Orphan => None,
    });
    Ok(tasks.filter(|task| !open(task)).collect())
}

fn text(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "No worktrees to remove".into();
    }
    let word = |line: &Line| match (line.removed, line.dry_run) {
        (true, false) => "removed",
        (true, true) => "would be removed",
        (false, _) => "stays",
    };
    let cells = |line: &Line| {
        let why = line.why.as_deref().unwrap_or_default();
        vec![line.task.clone(), word(line).to_owned(), harmless(why)]
    };
    table(&["task", "worktree", "why"], lines.iter().map(cells))
}
