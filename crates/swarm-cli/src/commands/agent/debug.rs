//! `swarm agent debug WHO`.

use std::io::IsTerminal;

use serde::Serialize;
use swarm_protocol::ids::TaskId;

use crate::commands::editor::open_editor;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Open the worktree of an agent in $VISUAL or $EDITOR
///
/// The agent keeps working; `swarm pause` or `swarm agent stop` stops it. Without a terminal the path is printed.
///
/// Example: swarm agent debug 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    /// Print the path only
    #[arg(long)]
    pub print: bool,
}

#[derive(Debug, Serialize)]
struct Place {
    task: TaskId,
    worktree: String,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = swarm.task_of(&args.who)?;
    let path = swarm.worktree_of(&task)?;
    // `cd "$(swarm agent debug 1.2)"` wants a path, and an editor would wait there for keys that nobody can press.
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if args.print || cx.out.json || !at_terminal {
        return cx
            .out
            .view(&Place { task, worktree: path.display().to_string() }, |place| place.worktree.clone());
    }
    open_editor(&path, &format!("swarm agent debug {task}"))
}
