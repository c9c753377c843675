//! `swarm resume`.

use clap::ValueEnum;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;

use super::operate::{DryRun, goes_on};
use crate::context::Context;
use crate::error::CliError;

/// Resume after a pause
///
/// The swarm also pauses by itself: when trunk fails verification, worktrees cannot be set up, checks fail before any work, the
/// disk is full, the budget is spent, or several agents are out of service. Each pause has its own reason, shown by
/// `swarm status`; resuming one leaves the others in place.
///
/// Example: swarm resume --reason trunk
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Reason of the pause to end
    #[arg(long, value_enum, value_name = "REASON", default_value = "user")]
    pub reason: ReasonArg,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReasonArg {
    /// Paused with `swarm pause`
    User,
    /// The disk was full or read-only
    Disk,
    /// Trunk failed verification
    Trunk,
    /// Worktrees could not be set up
    Setup,
    /// The budget was spent: allows the same amount again
    Budget,
    /// Several agents were taken out of service
    Errors,
    /// The session was aborted with `swarm abort`: merges its work again, in order
    Abort,
    /// The plan was being closed
    Close,
    /// The checks failed before any work was done
    Checks,
}

impl From<ReasonArg> for PauseReason {
    fn from(reason: ReasonArg) -> Self {
        match reason {
            ReasonArg::User => Self::User,
            ReasonArg::Disk => Self::Disk,
            ReasonArg::Trunk => Self::Trunk,
            ReasonArg::Setup => Self::Setup,
            ReasonArg::Budget => Self::Budget,
            ReasonArg::Errors => Self::Errors,
            ReasonArg::Abort => Self::Abort,
            ReasonArg::Close => Self::Close,
            ReasonArg::Checks => Self::Checks,
        }
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    goes_on(cx, Command::Resume { reason: args.reason.into() }, args.dry)
}
