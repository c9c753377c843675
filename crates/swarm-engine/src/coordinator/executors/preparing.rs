//! The worktree of a run, made for somebody who may not come any more.

use std::future::Future;
use std::time::Duration;

use swarm_core::effect::StartsFrom;
use swarm_core::input::Report;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Ended;
use tokio_util::sync::CancellationToken;

use super::{ExecutorContext, FromExecutor};
use crate::coordinator::sharing::Shared;

/// What the making of a worktree gets after the word to stop: nearly every one is ready by then. A program that git is
/// configured to ask for each file may take for ever.
const MADE_WITHIN: Duration = Duration::from_secs(2);

/// `begins`: the whole that it was a part of, and where its own commits begin. `shared`: files that it changes in the tree
/// that tasks share.
pub(super) async fn prepare(
    context: &ExecutorContext,
    run: RunId,
    task: TaskId,
    begins: (Option<StartsFrom>, Option<Oid>),
    shared: Option<Vec<String>>,
) -> Report {
    let world = &context.world;
    let making = async {
        let (from, base) = (begins.0.as_ref(), begins.1.as_ref());
        let (made, mut news) = world.make_workplace(run.clone(), &task, from, base).await;
        let profile = context.about.profile.clone();
        let shared = shared.map(|holds| Shared { run: run.clone(), task: task.clone(), holds, profile });
        (world.let_in(made, shared, &mut news).await, news)
    };
    let made = unless_told_to_stop(&context.cancel, MADE_WITHIN, Box::pin(making)).await;
    let Some((report, news)) = made else {
        return Report::WorkEnded { run, how: Ended::Stopped };
    };
    for one in news {
        let _ = context.out.send(FromExecutor::News(one)).await;
    }
    report
}

/// None when it was not made within this time after the word to stop. Its programs end with it; what is half made is
/// made again by whoever wants it next.
async fn unless_told_to_stop<T>(
    cancel: &CancellationToken,
    within: Duration,
    making: impl Future<Output = T>,
) -> Option<T> {
    let late = async {
        cancel.cancelled().await;
        tokio::time::sleep(within).await;
    };
    tokio::select! {
        biased;
        made = making => Some(made),
        () = late => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_never_made_is_not_waited_for_after_the_word_to_stop() {
        let cancel = CancellationToken::new();
        let soon = Duration::from_millis(1);
        let slowly = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            1
        };
        assert_eq!(unless_told_to_stop(&cancel, soon, slowly).await, Some(1), "nobody is told to stop");
        cancel.cancel();
        assert_eq!(unless_told_to_stop(&cancel, soon, std::future::pending::<i32>()).await, None);
        assert_eq!(unless_told_to_stop(&cancel, Duration::from_secs(60), async { 2 }).await, Some(2));
    }
}
