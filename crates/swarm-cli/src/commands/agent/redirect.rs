//! `swarm agent redirect WHO [TASK]`.

use swarm_protocol::board::Choice;
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use crate::commands::operate::{Unasked, intervene, list};
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::swarm::Swarm;

/// Move an agent to another task
///
/// The agent stops, its work stays on the branch of its task, and that task returns to the queue. Without TASK the ready tasks are
/// listed, best choice first.
///
/// Example: swarm agent redirect ed-001 2.1
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    /// Task to work on instead (default: list the candidates)
    #[arg(value_name = "TASK")]
    pub to: Option<TaskId>,
    /// Start the other task from the work of this one
    #[arg(long, requires = "to")]
    pub same_worktree: bool,
    #[command(flatten)]
    pub sure: Unasked,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = swarm.task_of(&args.who)?;
    let Some(to) = args.to else {
        let choices = swarm.could_take_up(&task)?;
        let none = "No other task is ready; see `swarm task list`";
        return list(cx, &choices, none, |choices| text(choices, &args.who));
    };
    let same_worktree = args.same_worktree;
    intervene(cx, &swarm, Command::Redirect { task, to, same_worktree }, args.sure.dry)
}

fn text(choices: &[Choice], who: &str) -> String {
    let cells = |choice: &Choice| {
        vec![
            choice.task.to_string(),
            harmless(&choice.title),
            choice.phase.to_string(),
            harmless(&choice.tags.join(" ")),
            choice.unblocks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" "),
        ]
    };
    let mut text = table(&["task", "title", "phase", "tags", "unblocks"], choices.iter().map(cells));
    if let Some(first) = choices.first() {
        text.push_str(&format!("\nRecommended: {} ({})", first.task, first.why));
        text.push_str(&format!("\n  swarm agent redirect {who} {}", first.task));
    }
    text
}
