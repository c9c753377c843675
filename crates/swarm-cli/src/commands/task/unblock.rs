//! `swarm task unblock TASK…`.

use serde::Serialize;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;

use crate::commands::operate::{DryRun, each, told_beside};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{self, preview};
use crate::swarm::Swarm;

/// Return tasks to the queue
///
/// From blocked, failed, timeout or deferred. Their branches and saved work stay. `--all` returns every blocked task, for example after
/// you have renewed a key; `--kind` limits it to one kind, as `swarm attention` shows it in parentheses.
///
/// Examples: swarm task unblock 1.2, swarm task unblock --all --kind setup
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ids of the tasks, like 1.2 or add-login
    #[arg(value_name = "TASK", required_unless_present = "all", conflicts_with = "all", num_args = 1..)]
    pub tasks: Vec<TaskId>,
    /// Return every blocked task
    #[arg(long)]
    pub all: bool,
    /// With --all: only tasks that are blocked for this reason, like setup or retries
    #[arg(long, value_name = "KIND", requires = "all")]
    pub kind: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    // What is printed as JSON follows from what was typed, not from how many there happen to be.
    let is_one = !args.all && args.tasks.len() == 1;
    let tasks = if args.all { blocked(&swarm, args.kind.as_deref())? } else { args.tasks };
    let command = |task: &TaskId| Command::UnblockTask { task: task.clone() };
    if args.dry.dry_run {
        let (seen, refused) = each(&tasks, |task| swarm.preview(&command(task)));
        return tell(cx, &seen, refused, is_one, preview::text);
    }
    let (answers, refused) = each(&tasks, |task| swarm.ask(command(task)));
    tell(cx, &answers, refused, is_one, |answer: &Answer| output::harmless(&answer.text))?;
    swarm.note_that_nothing_goes_on(&swarm.presence());
    Ok(())
}

fn tell<V: Serialize>(
    cx: &Context,
    done: &[V],
    refused: Option<CliError>,
    is_one: bool,
    text: impl Fn(&V) -> String,
) -> Result<(), CliError> {
    match done {
        // The error is all that there is to say.
        [] => refused.map_or(Ok(()), Err),
        [one] if is_one => cx.out.view(one, text),
        all => told_beside(cx, all, refused, |all| all.iter().map(text).collect::<Vec<_>>().join("\n")),
    }
}

/// Those that a person is to unblock, as the view shows them.
fn blocked(swarm: &Swarm, kind: Option<&str>) -> Result<Vec<TaskId>, CliError> {
    let mut found = Vec::new();
    for row in swarm.tasks(None)?.into_iter().filter(|row| row.status == Status::Blocked) {
        let is_wanted = match kind {
            None => true,
            Some(kind) => swarm.task(&row.id, None)?.block.is_some_and(|block| block.word() == kind),
        };
        if is_wanted {
            found.push(row.id);
        }
    }
    if found.is_empty() {
        let of = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
        return Err(CliError::refused_now(format!("No task is blocked{of}")).run_instead("swarm attention"));
    }
    Ok(found)
}
