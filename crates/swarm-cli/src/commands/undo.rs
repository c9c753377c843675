//! `swarm undo [OPERATION]`.

use swarm_protocol::command::Command;

use crate::commands::operate::{Confirm, TakeBack, carefully};
use crate::commands::plan::reopen::reopen;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Undo the last operation of a person, or a named one
///
/// Restores every value that the operation changed. If a value has changed since, the undo is refused, and says what changed
/// and what to undo first. Newer work is never removed. With --set-aside, work of agents that have restarted the same tasks
/// is kept in a checkpoint first.
///
/// Example: swarm undo --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Operation: id, or number in `swarm op log`
    #[arg(value_name = "OPERATION")]
    pub operation: Option<String>,
    /// Skip values that have changed since, and restore the rest
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
