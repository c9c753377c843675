//! `swarm demo`: the whole story on a throw-away repository.

use std::process::ExitCode;

use crate::cli::Context;
use crate::error::CliError;

/// Show the whole story on a throw-away repository, in under a minute
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, _cx: &Context) -> Result<ExitCode, CliError> {
    Err(CliError::environment("`swarm demo` is not part of this build yet"))
}
