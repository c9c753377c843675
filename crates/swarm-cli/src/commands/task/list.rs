//! `swarm task list`.

use clap::ValueEnum;
use swarm_protocol::plan::Status;
use swarm_protocol::view::TaskRow;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;

/// List the tasks of the plan
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
    /// Show only tasks with this status; may be repeated
    #[arg(long, value_enum, value_name = "STATUS")]
    pub status: Vec<StatusArg>,
    /// Show only tasks of this phase
    #[arg(long, value_name = "N")]
    pub phase: Option<u32>,
    /// Show only tasks that are ready
    #[arg(long)]
    pub ready: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusArg {
    #[value(aliases = ["todo", "open"])]
    Pending,
    #[value(aliases = ["doing", "in_progress"])]
    Active,
    Review,
    Merging,
    #[value(aliases = ["completed", "complete"])]
    Done,
    Gone,
    #[value(alias = "stuck")]
    Blocked,
    Failed,
    Timeout,
    #[value(alias = "later")]
    Deferred,
    #[value(aliases = ["closed", "canceled"])]
    Cancelled,
}

impl StatusArg {
    fn is(self, status: Status) -> bool {
        self.to_possible_value().is_some_and(|word| word.get_name() == status.word())
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let mut rows = if args.ready { swarm.ready(args.at.at)? } else { swarm.tasks(args.at.at)? };
    rows.retain(|row| args.phase.is_none_or(|phase| row.phase == phase));
    rows.retain(|row| args.status.is_empty() || args.status.iter().any(|status| status.is(row.status)));
    cx.out.view(&rows, |rows| text(rows))
}

fn text(rows: &[TaskRow]) -> String {
    if rows.is_empty() {
        return "No tasks".into();
    }
    table(&["task", "status", "title", "stage"], rows.iter().map(cells))
}

fn cells(row: &TaskRow) -> Vec<String> {
    vec![row.id.to_string(), row.status.word().to_owned(), row.title.clone(), row.stage.clone()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_can_be_asked_for() {
        for status in Status::ALL {
            assert_eq!(
                StatusArg::value_variants().iter().filter(|arg| arg.is(status)).count(),
                1,
                "{status:?}"
            );
        }
    }
}
