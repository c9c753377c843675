//! `swarm redo [OPERATION]`.

use swarm_protocol::command::Command;

use crate::commands::operate::{Confirm, TakeBack, carefully};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Redo what the last undo reverted
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Undo to revert: its id, or its number in `swarm op log`
    #[arg(value_name = "OPERATION")]
    pub operation: Option<String>,
    #[command(flatten)]
    pub back: TakeBack,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let operation = match args.operation {
        Some(name) => Some(swarm.operation_named(&name)?.id),
        None => None,
    };
    carefully(cx, &swarm, Command::Redo { operation, force: args.back.into(), expect: None }, args.sure)
}
