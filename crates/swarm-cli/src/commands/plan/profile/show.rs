//! `swarm plan profile show`.

use swarm_protocol::plan::ExecutionProfile;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::swarm::Swarm;

/// Show the execution profile
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let profile = Swarm::open(cx)?.profile(args.at.at)?;
    cx.out.view(&profile, text)
}

fn text(profile: &ExecutionProfile) -> String {
    let ExecutionProfile { parallelization_enabled, max_concurrent_tasks, council_parallel, locked } =
        profile;
    format!(
        "parallelization_enabled  {parallelization_enabled}\n\
         max_concurrent_tasks     {max_concurrent_tasks}\n\
         council_parallel         {council_parallel}\n\
         locked                   {locked}\n\
         So {} may run at once",
        match profile.slots() {
            1 => "one task".to_owned(),
            slots => format!("{slots} tasks"),
        }
    )
}
