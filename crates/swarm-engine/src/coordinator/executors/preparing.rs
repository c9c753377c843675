//! What is being made for somebody who may not come any more.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// What the making of a worktree gets after the word to stop: nearly every one is ready by then. A program that git is
/// configured to ask for each file may take for ever.
pub(super) const MADE_WITHIN: Duration = Duration::from_secs(2);

/// None when it was not made within this time after the word to stop. Its programs end with it; what is half made is
/// made again by whoever wants it next.
pub(super) async fn unless_told_to_stop<T>(
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
