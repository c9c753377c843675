//! `swarm worktree list`.

use serde::Serialize;
use swarm_protocol::plan::Status;
use swarm_protocol::view::TaskRow;
use swarm_work::worktree::overview::{Kind, Seen};

use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;

/// List worktrees with their agents and uncommitted changes
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Debug, Serialize)]
pub struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncommitted: Option<usize>,
}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    cx.out.view(&lines(&Swarm::open(cx)?)?, |lines| text(lines))
}

/// Every worktree there is, for whoever lists them.
pub fn lines(swarm: &Swarm) -> Result<Vec<Line>, CliError> {
    let rows = swarm.rows_if_any()?;
    Ok(swarm.seen_worktrees()?.into_iter().map(|seen| line(swarm, &rows, seen)).collect())
}

fn line(swarm: &Swarm, rows: &[TaskRow], seen: Seen) -> Line {
    let path = swarm.relative(&seen.path);
    let plain = |state: &str| Line {
        task: None,
        path: path.clone(),
        branch: None,
        state: state.into(),
        uncommitted: None,
    };
    let of_task = |task: &swarm_protocol::ids::TaskId, state: String| Line {
        task: Some(task.to_string()),
        path: path.clone(),
        branch: Some(task.branch()),
        state,
        uncommitted: seen.uncommitted,
    };
    match &seen.kind {
        Kind::Task(task) => {
            let row = rows.iter().find(|row| row.id == *task);
            of_task(task, Swarm::worked_on(row).unwrap_or_else(|| at_rest(row)))
        }
        Kind::HalfMade(task) => of_task(task, "half made: the next attempt makes it again".into()),
        Kind::FolderGone(task) => of_task(task, "its folder is gone, the branch is there".into()),
        Kind::Merge => plain("merged work is verified here"),
        Kind::Shared { tasks } if tasks.is_empty() => plain("shared by tasks; nobody works in it"),
        Kind::Shared { tasks } => {
            let ids: Vec<&str> = tasks.iter().map(|task| task.as_str()).collect();
            plain(&format!("shared by {}", ids.join(", ")))
        }
        Kind::Pool { ready: true } => plain("kept for the next task"),
        Kind::Pool { ready: false } => plain("to be cleaned for the next task"),
        Kind::Orphan => plain("not made by the swarm: never touched"),
    }
}

fn at_rest(row: Option<&TaskRow>) -> String {
    match row {
        None => "no task of the plan".into(),
        Some(row) if matches!(row.status, Status::Done | Status::Cancelled) => {
            format!("{}: `swarm worktree cleanup {}` removes it or says why not", row.status.word(), row.id)
        }
        Some(row) => row.stage.clone(),
    }
}

fn text(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "No worktrees".into();
    }
    let cells = |line: &Line| {
        let count = line.uncommitted.map_or(String::new(), |count| count.to_string());
        vec![line.task.clone().unwrap_or_default(), line.path.clone(), count, line.state.clone()]
    };
    table(&["task", "worktree", "uncommitted", "state"], lines.iter().map(cells))
}
