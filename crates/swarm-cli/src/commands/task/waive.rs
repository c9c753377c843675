//! `swarm task waive TASK GATE REASON`.

use clap::ValueEnum;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::Gate;

use super::TaskArg;
use crate::cli::Context;
use crate::commands::answered;
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
    /// Why that is right
    #[arg(value_name = "REASON")]
    pub reason: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum GateArg {
    /// The check commands in the task's worktree
    Check,
    /// The verification commands on the merged tree
    Verify,
}

impl From<GateArg> for Gate {
    fn from(gate: GateArg) -> Self {
        match gate {
            GateArg::Check => Self::Check,
            GateArg::Verify => Self::Verify,
        }
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let command = Command::WaiveGate { task: args.task.id, gate: args.gate.into(), reason: args.reason };
    let answer = Swarm::open(cx)?.ask(command)?;
    answered(cx, &answer)
}
