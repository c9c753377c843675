//! `swarm ask JSON`: any command in the form that tools send it.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Run a command given as JSON, as tools send it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command, like {"do":"block_task","task":"1.1","reason":"waits"}
    #[arg(value_name = "JSON")]
    pub command: String,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let command: Command = serde_json::from_str(&args.command)
        .map_err(|error| CliError::usage("Not a command in JSON").because(error))?;
    intervene(cx, &Swarm::open(cx)?, command, args.dry)
}
