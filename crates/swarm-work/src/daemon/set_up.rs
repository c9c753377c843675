//! Makes the worktree fit to work in, before anything else of the run: once, and again when a file that
//! decides over it has changed.

use std::path::Path;
use std::slice;
use std::time::Duration;

use swarm_protocol::channel::RunKind;

use super::commands::{Judged, judge};
use super::program::StopWish;
use super::run_context::{RunContext, Yield};
use super::spec::SetUp;
use super::walls::Who;
use crate::shared_tree;
use crate::worktree::{ignored_in, record_made, record_setup, setup, setup_due};
use swarm_git::{Git, lock_within};
use swarm_process::complain;

/// Runs the set-up where it is due. Some: the run cannot go on.
pub async fn set_up(context: &RunContext, stop: &mut StopWish) -> Option<Yield> {
    let wanted = context.spec.set_up.as_ref().filter(|_| context.spec.question.is_none())?;
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
    let place = Place { git, name, path: &context.spec.worktree, who: Who::Command };
    if let Some(end) = place.set_up(context, wanted, stop).await {
        return Some(end);
    }
    let path = context.spec.shared.as_ref()?;
    set_up_shared(context, git, path, wanted, stop).await
}

/// One after the other, and not under the hands of those who work there already.
async fn set_up_shared(
    context: &RunContext,
    git: &Git,
    path: &Path,
    wanted: &SetUp,
    stop: &mut StopWish,
) -> Option<Yield> {
    let lock = git.swarm_dir().join("shared-tree.set-up.lock");
    let patience = Duration::from_secs(wanted.timeout_secs.saturating_add(60));
    let _held = match lock_within(&lock, "", patience).await {
        Ok(Some(held)) => held,
        Ok(None) => {
            let text = "the set-up of the shared tree by another run does not end".into();
            return Some(Yield::NoWorkspace { text });
        }
        Err(error) => return Some(Yield::NoWorkspace { text: error.to_string() }),
    };
    let name = shared_tree::NAME;
    if setup::was_made(git, name) && !shared_tree::is_alone(git, &context.spec.task) {
        return None;
    }
    Place { git, name, path, who: Who::SetUp }.set_up(context, wanted, stop).await
}

/// A folder to be made fit.
struct Place<'a> {
    git: &'a Git,
    name: &'a str,
    path: &'a Path,
    who: Who,
}

impl Place<'_> {
    async fn set_up(&self, context: &RunContext, wanted: &SetUp, stop: &mut StopWish) -> Option<Yield> {
        let SetUp { command, timeout_secs, when } = wanted;
        let (git, name, path, shown) = (self.git, self.name, self.path, command.shown());
        match setup_due(git, name, path, when, &shown) {
            Ok(false) => return None,
            Ok(true) => {}
            // What cannot be read is not known to be unchanged.
            Err(error) => complain::<(), _>("tell whether the set-up is due", Err(error)),
        }
        // What is there before is not the set-up's; where that cannot be told, nothing counts as made by it.
        let before = ignored_in(git, name, path).await;
        match judge(context, self.who, slice::from_ref(command), *timeout_secs, stop).await {
            Judged::Stopped => Some(Yield::Stopped),
            Judged::Ended { passed: true, .. } => {
                complain("remember the set-up", record_setup(git, name, path, when, &shown));
                let made = match (before, ignored_in(git, name, path).await) {
                    (Ok(before), Ok(after)) => record_made(git, name, &before, after),
                    (Err(error), _) | (_, Err(error)) => Err(error),
                };
                complain("remember what the set-up has made", made);
                None
            }
            Judged::Ended { passed: false, output, .. } => Some(Yield::NoWorkspace {
                text: format!("the set-up of the worktree failed:\n{}", output.trim_end()),
            }),
        }
    }
}
