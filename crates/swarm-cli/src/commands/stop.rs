//! `swarm stop`: Ctrl+C from another terminal.

use swarm_protocol::command::Command;

use crate::commands::operate::{DryRun, shown};
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Stop the running swarm in good order
///
/// Like Ctrl+C in the terminal of `swarm run`: nothing new starts, agents go to their next boundary, uncommitted work is saved, and
/// the coordinator ends. `swarm run` continues from there.
///
/// Example: swarm stop
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do not wait until it has stopped
    #[arg(long)]
    pub no_wait: bool,
    /// Create a checkpoint first
    #[arg(long)]
    pub checkpoint: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open_unread(cx)?;
    if args.dry.dry_run {
        swarm.something_runs()?;
        return shown(cx, &swarm.preview(&Command::Drain { why: "swarm stop".into() })?);
    }
    let asks = args.checkpoint && swarm.has_coordinator();
    if args.checkpoint && !asks {
        let made = swarm.operate(Command::MakeCheckpoint { name: None })?;
        output::note(&output::harmless(&made.text));
    }
    let stopped = swarm.stop(!args.no_wait, asks)?;
    cx.out.view(&stopped, |stopped| stopped.text.clone())
}
