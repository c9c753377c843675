//! `swarm agent revive WHO`.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Put an agent back into service
///
/// An agent that crashes more than `recovery.maxCrashes` times within `recovery.crashWindow` is taken out of service, and its task
/// goes to another agent. Reviving resets its count. `swarm attention` lists agents that are out of service.
///
/// Example: swarm agent revive ed-001
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let agent = swarm.agent_of(&args.who)?;
    intervene(cx, &swarm, Command::ReviveAgent { agent }, args.dry)
}
