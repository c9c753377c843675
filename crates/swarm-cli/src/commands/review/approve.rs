//! `swarm review approve TASK`.

use swarm_protocol::command::Command;
use swarm_protocol::ids::Oid;
use swarm_protocol::review::Verdict;

use crate::commands::operate::{DryRun, intervene};
use crate::commands::task::TaskArg;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Approve submitted work: it is merged when its turn comes
///
/// The approval is for one commit. It is refused if the branch is not at the submitted commit any more.
///
/// Example: swarm review approve 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// The commit that you reviewed [default: where the branch of the task is now]
    #[arg(long, value_name = "COMMIT", value_parser = parse_commit)]
    pub commit: Option<Oid>,
    #[command(flatten)]
    pub dry: DryRun,
}

fn parse_commit(text: &str) -> Result<Oid, String> {
    Oid::new(text).map_err(|_| "write all 40 digits of the commit, as `git rev-parse` prints it".into())
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = args.task.id;
    let tip = match args.commit {
        Some(commit) => commit,
        // Without a branch there is nothing but what was submitted.
        None => match swarm.tip_of(&task)? {
            Some(tip) => tip,
            None => swarm.review(&task)?.submitted,
        },
    };
    intervene(cx, &swarm, Command::Review { task, verdict: Verdict::Approve { tip } }, args.dry)
}
