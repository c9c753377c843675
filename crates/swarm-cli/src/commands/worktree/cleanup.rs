//! `swarm worktree cleanup`.

use serde::Serialize;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;
use swarm_work::remove::Removal;
use swarm_work::worktree::overview::Kind;

use crate::commands::operate::DryRun;
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::swarm::Swarm;
use crate::swarm::worktrees::GiveUp;

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

#[derive(Debug, Serialize)]
struct Line {
    task: String,
    removed: bool,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What `swarm restore` knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    saved: Option<String>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let rows = swarm.rows_if_any()?;
    let tasks = if args.all { closed(&swarm)? } else { args.tasks };
    let mut lines = Vec::new();
    for task in tasks {
        let row = rows.iter().find(|row| row.id == task);
        let mut line = Line {
            task: task.to_string(),
            removed: false,
            dry_run: args.dry.dry_run,
            why: None,
            saved: None,
        };
        line.why = match Swarm::worked_on(row) {
            Some(why) => Some(why),
            None if args.dry.dry_run => would_stay(&swarm, &task, args.force, &mut line)?,
            None => match swarm.clean_up(&task, args.force)? {
                Removal::Removed => None,
                Removal::Kept { why } => Some(why.to_string()),
            },
        };
        line.removed = line.why.is_none();
        if args.force && line.removed && !args.dry.dry_run {
            line.saved = swarm.kept_whole(&task)?;
        }
        lines.push(line);
    }
    cx.out.view(&lines, |lines| text(lines))
}

/// Why it would stay. By force it would be saved whole, because of what would have kept it.
fn would_stay(
    swarm: &Swarm,
    task: &TaskId,
    force: bool,
    line: &mut Line,
) -> Result<Option<String>, CliError> {
    let look = GiveUp { only_look: true, ..GiveUp::default() };
    let Removal::Kept { why } = swarm.give_up_worktree(task, look)? else { return Ok(None) };
    if !force {
        return Ok(Some(why.to_string()));
    }
    line.saved = Some(format!("trash/{task}-…, because {why}"));
    Ok(match swarm.give_up_worktree(task, GiveUp { force, ..look })? {
        Removal::Removed => None,
        Removal::Kept { why } => Some(why.to_string()),
    })
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
        Kind::Merge | Kind::Shared { .. } | Kind::Pool { .. } | Kind::Orphan => None,
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
        let why = match (&line.why, &line.saved) {
            (Some(why), _) => why.clone(),
            (None, Some(saved)) => format!("saved as {saved}"),
            (None, None) => String::new(),
        };
        vec![line.task.clone(), word(line).to_owned(), harmless(&why)]
    };
    table(&["task", "worktree", "why"], lines.iter().map(cells))
}
