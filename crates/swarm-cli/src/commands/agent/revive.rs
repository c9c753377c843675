//! `swarm agent revive AGENT`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::AgentId;

use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Let an agent work again that was taken out of service
///
/// An agent that crashes too often in too short a time (`recovery.maxCrashes` within `recovery.crashWindow`) gets no
/// more work, and its task goes to another one. Revived it starts counting anew. `swarm attention` names those that
/// are out of service.
///
/// Example: swarm agent revive ed-001
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the agent, like ed-001
    #[arg(value_name = "AGENT")]
    pub agent: AgentId,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    swarm.must_know_agent(&args.agent)?;
    intervene(cx, &swarm, Command::ReviveAgent { agent: args.agent }, args.dry)
}
