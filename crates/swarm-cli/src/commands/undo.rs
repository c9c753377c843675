//! `swarm undo [OPERATION]`.

use swarm_protocol::command::Command;

use crate::cli::Context;
use crate::commands::operate::{Confirm, TakeBack, carefully};
use crate::commands::plan::reopen::reopen;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Take back the last thing that a person did, or the operation named
///
/// Everything that the operation changed is set back to what it was, each only if nobody has changed it since; otherwise
/// the answer says what changed and what to undo first. Work made since is never taken away; with --set-aside what agents
/// have begun with the same tasks since is kept in a checkpoint and gives way.
///
/// Example: swarm undo --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The operation: its id, or its number in `swarm op log`
    #[arg(value_name = "OPERATION")]
    pub operation: Option<String>,
    /// Leave what has changed since, and set back the rest
    #[arg(long)]
    pub partial: bool,
    #[command(flatten)]
    pub back: TakeBack,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    // Right after a close there is no plan, and the close is what was done last.
    if args.operation.is_none() && swarm.was_closed()? {
        return reopen(cx, &swarm, None, args.sure);
    }
    let operation = match args.operation {
        Some(name) => Some(swarm.operation_named(&name)?.id),
        None => None,
    };
    let (partial, force) = (args.partial, args.back.into());
    carefully(cx, &swarm, Command::Undo { operation, partial, force, expect: None }, args.sure)
}
