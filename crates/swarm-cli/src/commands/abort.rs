//! `swarm abort`.

use serde::Serialize;
use swarm_protocol::command::Command;
use swarm_protocol::oplog::OperationView;
use swarm_protocol::view::RetryOptions;

use crate::commands::operate::{Confirm, Forced, confirmed};
use crate::commands::run::ways_on;
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::swarm::Swarm;

/// Undo the whole session: stop agents, move trunk back, keep all work
///
/// Merged tasks become approved, so that `swarm run --retry` merges them again in order. Worktrees are removed, and their
/// contents are kept under refs. `swarm undo` reverts the abort. Prints the ways to continue (`retry_options` with --json).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub forced: Forced,
    #[command(flatten)]
    pub sure: Confirm,
}

#[derive(Debug, Serialize)]
struct Aborted {
    #[serde(flatten)]
    operation: OperationView,
    /// The ways on.
    retry_options: Option<RetryOptions>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let command = Command::Abort { force: args.forced.into(), expect: None };
    let swarm = Swarm::open(cx)?;
    let Some(command) = confirmed(cx, &swarm, command, args.sure)? else { return Ok(()) };
    let operation = swarm.operate(command)?;
    let aborted = Aborted { operation, retry_options: swarm.retry_options()? };
    cx.out.view(&aborted, |aborted| {
        let ways = aborted.retry_options.iter().flat_map(ways_on);
        std::iter::once(harmless(&aborted.operation.text)).chain(ways).collect::<Vec<_>>().join("\n")
    })
}
