//! `swarm plan profile set`.

use swarm_protocol::command::Command;
use swarm_protocol::plan::ExecutionProfile;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Change the execution profile
///
/// Options that are not given stay unchanged. Refused while the profile is locked.
#[derive(Debug, clap::Args)]
#[group(id = "profile", required = true, multiple = true)]
pub struct Wanted {
    /// Whether tasks run in parallel
    #[arg(long, value_name = "BOOL")]
    pub parallel: Option<bool>,
    /// Maximum number of parallel tasks, 1 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub max: Option<u32>,
    /// Whether council members work in parallel
    #[arg(long, value_name = "BOOL")]
    pub council_parallel: Option<bool>,
    /// Lock the profile afterwards
    #[arg(long)]
    pub lock: bool,
}

/// Change the execution profile
///
/// Options that are not given stay unchanged. Refused while the profile is locked.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub wanted: Wanted,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let now = swarm.profile(None)?;
    let (args, dry) = (args.wanted, args.dry);
    let profile = ExecutionProfile {
        parallelization_enabled: args.parallel.unwrap_or(now.parallelization_enabled),
        max_concurrent_tasks: args.max.unwrap_or(now.max_concurrent_tasks),
        council_parallel: args.council_parallel.unwrap_or(now.council_parallel),
        locked: args.lock,
    };
    intervene(cx, &swarm, Command::SetProfile { profile }, dry)
}
