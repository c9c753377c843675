//! Makes the worktree fit to work in, before anything else of the run: once, and again when a file that
//! decides over it has changed.

use std::slice;

use swarm_protocol::channel::RunKind;

use super::commands::{Judged, judge};
use super::program::StopWish;
use super::run_context::{RunContext, Yield};
use super::spec::SetUp;
use crate::worktree::{ignored_in, record_made, record_setup, setup_due};
use swarm_process::complain;

/// Runs the set-up where it is due. Some: the run cannot go on.
pub async fn set_up(context: &RunContext, stop: &mut StopWish) -> Option<Yield> {
    let SetUp { command, timeout_secs, when } =
        context.spec.set_up.as_ref().filter(|_| context.spec.question.is_none())?;
    let git = match context.git().await {
        Ok(git) => git,
        Err(error) => return Some(Yield::NoWorkspace { text: error.to_string() }),
    };
    // The merge worktree is one for all tasks.
    let name = match context.spec.kind {
        RunKind::Verify => "merge",
        RunKind::Probe => return None,
        RunKind::Work | RunKind::Review => context.spec.task.as_str(),
    };
    let (worktree, shown) = (&context.spec.worktree, command.shown());
    match setup_due(git, name, worktree, when, &shown) {
        Ok(false) => return None,
        Ok(true) => {}
        // What cannot be read is not known to be unchanged.
        Err(error) => complain::<(), _>("tell whether the set-up is due", Err(error)),
    }
    // What is there before is not the set-up's; where that cannot be told, nothing counts as made by it.
    let before = ignored_in(git, name, worktree).await;
    match judge(context, slice::from_ref(command), *timeout_secs, stop).await {
        Judged::Stopped => Some(Yield::Stopped),
        Judged::Ended { passed: true, .. } => {
            complain("remember the set-up", record_setup(git, name, worktree, when, &shown));
            let made = match (before, ignored_in(git, name, worktree).await) {
                (Ok(before), Ok(after)) => record_made(git, name, &before, after),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
            complain("remember what the set-up has made", made);
            None
        }
        Judged::Ended { passed: false, output } => Some(Yield::NoWorkspace {
            text: format!("the set-up of the worktree failed:\n{}", output.trim_end()),
        }),
    }
}
