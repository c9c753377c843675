//! `swarm plan import [FILE]`.

use std::path::PathBuf;

use swarm_protocol::command::{Command, SaveKind};

use super::file;
use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Take over a plan with its statuses
///
/// Like `swarm plan save`, but done, blocked, deferred and cancelled tasks in the file become so in the plan.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan file, or `-` for stdin (default: .swarm/SWARM_PLAN.json, else SWARM_PLAN.json at the root)
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let path = args.file.clone().map_or_else(|| exported_before(&swarm), Ok)?;
    let (plan, named) = file::read(&path)?;
    let source = if args.file.is_some() { named } else { swarm.relative(&path) };
    let command = Command::SavePlan { plan, kind: SaveKind::Import, source, reset_statuses: false };
    answered(cx, &swarm.ask(command)?)
}

/// The export that lies in the repository, the old place last.
fn exported_before(swarm: &Swarm) -> Result<PathBuf, CliError> {
    let (here, old) = swarm.export_places();
    if here.exists() {
        return Ok(here);
    }
    if old.exists() {
        output::note(
            "Note: SWARM_PLAN.json at the root is the old place; exports go to .swarm/SWARM_PLAN.json now",
        );
        return Ok(old);
    }
    Err(CliError::environment("There is no exported plan to import")
        .because(format!("{} does not exist", swarm.relative(&here)))
        .run_instead("swarm plan import FILE"))
}
