//! `swarm script-agent`: hidden, started by a daemon.

use std::process::ExitCode;

/// Play the scripted agent (started by swarm itself)
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args) -> ExitCode {
    swarm_agents::script::script_agent_process().into()
}
