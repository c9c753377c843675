//! `swarm review approve TASK`.

use swarm_protocol::command::Command;
use swarm_protocol::review::Verdict;

use super::say_who_goes_on;
use crate::commands::operate::{DryRun, intervene};
use crate::commands::task::TaskArg;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Approve submitted work: it is merged when its turn comes
///
/// The approval applies to the submitted commit; a change of the branch before the merge makes it void. It is refused if the
/// branch has moved since the submission, unless --commit names the submitted commit. Later commits are then not merged, and
/// the worktree is kept.
///
/// Example: swarm review approve 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// The commit that you reviewed (default: the current commit of the task's branch)
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let task = args.task.id;
    let branch = swarm.tip_of(&task)?;
    let (tip, left_out) = match (args.commit, branch) {
        (Some(name), branch) => {
            let tip = swarm.commit_named(&name)?;
            let rest = branch.filter(|branch| *branch != tip);
            (tip, rest)
        }
        (None, Some(branch)) => (branch, None),
        // Without a branch there is nothing but what was submitted.
        (None, None) => (swarm.review(&task)?.submitted, None),
    };
    intervene(cx, &swarm, Command::Review { task, verdict: Verdict::Approve { tip, left_out } }, args.dry)?;
    say_who_goes_on(&swarm, args.dry);
    Ok(())
}
