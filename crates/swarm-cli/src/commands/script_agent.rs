//! Placeholder until its module lands.

use std::process::ExitCode;

/// Play the scripted agent (started by swarm itself)
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args) -> ExitCode {
    crate::exit::Exit::Environment.into()
}
