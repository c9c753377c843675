//! `swarm task waive TASK GATE --reason REASON`.

use clap::ValueEnum;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::Gate;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::operate::{DryRun, intervene};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Let a task pass without one of its gates
///
/// The waiver and its reason stand in the ledger, and the task says so for good.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// The gate to leave out
    #[arg(value_enum, value_name = "GATE")]
    pub gate: GateArg,
    #[command(flatten)]
    pub why: Why,
    #[command(flatten)]
    pub dry: DryRun,
}

/// Said in either way.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Why {
    /// Why that is right
    #[arg(value_name = "REASON")]
    pub words: Option<String>,
    /// Why that is right
    #[arg(long, value_name = "REASON")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum GateArg {
    /// The check commands in the task's worktree
    Check,
    /// The review of the submitted work
    Review,
    /// The verification commands on the merged tree
    Verify,
}

impl From<GateArg> for Gate {
    fn from(gate: GateArg) -> Self {
        match gate {
            GateArg::Check => Self::Check,
            GateArg::Review => Self::Review,
            GateArg::Verify => Self::Verify,
        }
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let reason = args.why.reason.or(args.why.words).unwrap_or_default();
    let command = Command::WaiveGate { task: args.task.id, gate: args.gate.into(), reason };
    intervene(cx, &Swarm::open(cx)?, command, args.dry)
}
