//! `swarm task waive TASK GATE --reason REASON`.

use clap::ValueEnum;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::Gate;

use super::TaskArg;
use crate::commands::operate::{DryRun, intervene};
use crate::commands::reason::Reason;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Waive a gate of a task
///
/// The waiver and its reason are recorded and shown with the task.
///
/// Example: swarm task waive 1.2 review --reason 'only a comment'
#[derive(Debug, clap::Args)]
#[command(override_usage = "swarm task waive [OPTIONS] <TASK> <GATE> --reason <REASON>")]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// Gate to waive
    #[arg(value_enum, value_name = "GATE")]
    pub gate: GateArg,
    #[command(flatten)]
    pub reason: Reason,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum GateArg {
    /// The check commands in the task's worktree
    Check,
    /// The scan commands in the task's worktree
    Scan,
    /// The review of the submitted work
    Review,
    /// The verification commands on the merged tree
    Verify,
}

impl From<GateArg> for Gate {
    fn from(gate: GateArg) -> Self {
        match gate {
            GateArg::Check => Self::Check,
            GateArg::Scan => Self::Scan,
            GateArg::Review => Self::Review,
            GateArg::Verify => Self::Verify,
        }
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let reason = args.reason.text();
    let command = Command::WaiveGate { task: args.task.id, gate: args.gate.into(), reason };
    intervene(cx, &Swarm::open(cx)?, command, args.dry)
}
