//! `swarm task diff TASK`.

use std::io::{IsTerminal, Write};

use serde::Serialize;
use swarm_engine::work_diff::Stretch;
use swarm_git::DiffKind;
use swarm_protocol::diff::DiffAsk;

use super::TaskArg;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{harmless_code, note};
use crate::swarm::Swarm;

/// Show what a task changes
///
/// Shows only the committed work of the task: the changes of its branch, the submitted changes if it is in review, or its
/// commits on trunk if it is merged. Changes that came from trunk are left out.
///
/// Example: swarm task diff 1.2 --stat
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// List the files only, with the number of changed lines
    #[arg(long)]
    pub stat: bool,
    /// Show the Nth submission, as `swarm review show` numbers it
    #[arg(long, value_name = "N")]
    pub round: Option<usize>,
    /// Show only the changes since the Nth submission
    ///
    /// Changes that came from trunk are left out.
    #[arg(long, value_name = "N")]
    pub since: Option<usize>,
    /// Show the conflicts with the current trunk: the original lines, trunk's version and the task's version
    ///
    /// For a merged task: where reverting it conflicts. Nothing is changed. Long files and long lists are shortened, with a note.
    #[arg(long, conflicts_with_all = ["stat", "round", "since"])]
    pub conflict: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    stretch: Stretch,
    diff: String,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    if args.conflict {
        return super::conflict::show(&args.task.id, cx);
    }
    let swarm = Swarm::open(cx)?;
    let (round, since) = (args.round, args.since);
    let stretch = swarm.work_of(&DiffAsk { round, since, ..DiffAsk::of(args.task.id) })?;
    if stretch.mixed {
        note(
            "Trunk was merged in between and conflicts with the earlier submission: its changes are shown, too",
        );
    }
    let kind = if args.stat { DiffKind::Stat } else { DiffKind::Patch };
    let diff = swarm.diff_of(&stretch, kind)?;
    if cx.out.json {
        let diff = String::from_utf8_lossy(&diff).into_owned();
        return cx.out.json_value(&Shown { stretch, diff });
    }
    if diff.is_empty() {
        note("Nothing is changed");
    }
    if std::io::stdout().is_terminal() {
        return cx.out.text(&harmless_code(&String::from_utf8_lossy(&diff)));
    }
    // As it is, so that `git apply` takes it.
    match std::io::stdout().lock().write_all(&diff) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::environment("Cannot write to stdout").because(error))
        }
        _ => Ok(()),
    }
}
