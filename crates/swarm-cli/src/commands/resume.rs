//! `swarm resume`.

use clap::ValueEnum;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;

use super::operate::{DryRun, intervene};
use crate::cli::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Go on after a pause
///
/// The swarm also pauses by itself: when trunk fails its own verification, when worktrees cannot be set up, when
///
/// the disk is full, when its budget is spent, when several agents were taken out of service. Such a pause has its own reason, which `swarm status` names; others stay as they are.
///
/// Example: swarm resume --reason trunk
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which pause to end
    #[arg(long, value_enum, value_name = "REASON", default_value = "user")]
    pub reason: ReasonArg,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReasonArg {
    /// Somebody asked for it with `swarm pause`
    User,
    /// The disk was full or read-only
    Disk,
    /// Trunk itself failed its verification
    Trunk,
    /// Worktrees could not be set up
    Setup,
    /// What may be spent was spent: lets as much again be spent
    Budget,
    /// Several agents were taken out of service shortly after one another
    Errors,
    /// The session was taken back with `swarm abort`: merges what was merged then again, in order
    Abort,
    /// The plan was being closed
    Close,
    /// The check commands failed where tasks begin
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
    intervene(cx, &Swarm::open(cx)?, Command::Resume { reason: args.reason.into() }, args.dry)
}
