//! `swarm task split TASK FILE`.

use std::path::PathBuf;

use swarm_protocol::command::Command;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;
use crate::swarm::plan_file;

/// Split a task into parts
///
/// Parts run one after the other unless they name dependencies; the first one starts from the work done so far. The task is done when
/// all its parts are and its checks pass on trunk; tasks that depend on it wait for that. FILE is a list of tasks as in a plan: a
/// Markdown checklist, or JSON (a list of tasks, or a whole plan). A part without an id gets one: 1.2 is split into 1.2-1, 1.2-2 and
/// so on. A part may be split once more.
///
/// Example: printf '%s\n' '- [ ] Read the old format' '- [ ] Write the new one' | swarm task split 1.2 -
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// File with the parts (JSON, or a Markdown checklist; - for stdin)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let parts = plan_file::parts(&args.file, &args.task.id)?;
    let command = Command::SplitTask { task: args.task.id.clone(), parts };
    intervene(cx, &Swarm::open(cx)?, command, args.dry).map_err(|error| {
        plan_file::put_right(error, &format!("swarm task split {}", args.task.id), &args.file)
    })
}
