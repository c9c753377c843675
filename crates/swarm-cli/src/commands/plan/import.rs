//! `swarm plan import [FILE]`.

use std::path::PathBuf;

use swarm_protocol::command::{Command, SaveKind};

use super::file;
use crate::cli::Context;
use crate::commands::answered;
use crate::error::CliError;
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
    let path = args.file.clone().map_or_else(|| swarm.exported_before(), Ok)?;
    let (plan, named) = file::read(&path)?;
    let source = if args.file.is_some() { named } else { swarm.relative(&path) };
    let command = Command::SavePlan { plan, kind: SaveKind::Import, source, reset_statuses: false };
    let answer = swarm.ask(command).map_err(|error| file::put_right(error, "swarm plan import", &path))?;
    answered(cx, &answer)
}
