//! `swarm run`: the coordinator.

use std::process::ExitCode;

use crate::cli::Context;
use crate::error::CliError;

/// Let agents work on the plan until it is done
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, _cx: &Context) -> Result<ExitCode, CliError> {
    Err(CliError::environment("`swarm run` is not part of this build yet"))
}
