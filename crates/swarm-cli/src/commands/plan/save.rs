//! `swarm plan save FILE`.

use std::path::PathBuf;

use swarm_protocol::command::{Command, SaveKind};

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;
use crate::swarm::plan_file;

/// Save a plan from a file
///
/// FILE is JSON or a Markdown checklist. Tasks are added, changed, moved and removed to match it. Statuses in the file are ignored;
/// `swarm plan import` uses them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Plan file, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Reset every task to pending first, and unlock the execution profile
    #[arg(long)]
    pub reset_statuses: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let (plan, source) = plan_file::read(&args.file, &swarm.known_tasks())?;
    let (reset_statuses, planning) = (args.reset_statuses, swarm.planning_of(&args.file));
    let command = Command::SavePlan { plan, kind: SaveKind::Save, source, reset_statuses, planning };
    intervene(cx, &swarm, command, args.dry)
        .map_err(|error| plan_file::put_right(error, "swarm plan save", &args.file))?;
    if !args.dry.dry_run {
        swarm.is_no_draft_any_more(&args.file);
    }
    Ok(())
}
