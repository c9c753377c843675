//! Deeds are carried out on tasks of their own: whoever hangs up in the middle leaves nothing half done or unrecorded.

use std::sync::Arc;

use crate::api_state::{ApiState, Lost};
use crate::fault::{Fault, NO_ANSWER};

impl ApiState {
    /// Goes on when the client has gone, and ends with the coordinator. As many as there may be callers: whoever hangs up
    /// and asks again does not have any number of them under way.
    pub(crate) async fn to_the_end<T, Doing>(
        self: &Arc<Self>,
        what: impl FnOnce(Arc<Self>) -> Doing,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        Doing: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let place = Arc::clone(&self.tended).acquire_owned().await.map_err(|_| Lost)?;
        let doing = what(Arc::clone(self));
        let doing = tokio::spawn(async move {
            let _place = place;
            doing.await
        });
        doing.await.unwrap_or_else(|_| Err(Fault::lost(NO_ANSWER, "swarm doctor")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use swarm_engine::feed::FeedSource;
    use swarm_engine::paths::Paths;
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::hub::Hub;
    use crate::limits::Limits;

    #[tokio::test]
    async fn whoever_hangs_up_and_asks_again_has_no_more_under_way_than_there_may_be_callers() {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = Paths::new(dir.path(), &dir.path().join(".git"));
        let limits = Limits { callers: 2, ..Limits::default() };
        let (end, source) = (CancellationToken::new(), FeedSource::default());
        let hub = Hub::start(source.feed(), paths.ledger.clone(), limits, &end);
        let (queue, _asked) = mpsc::channel(1);
        let api = ApiState::new(paths, limits, hub, queue, end);
        let (began, mut beginnings) = mpsc::channel(8);
        for expected in [true, true, false] {
            let began = began.clone();
            let deed = api.to_the_end(move |_| async move {
                let _ = began.send(()).await;
                std::future::pending::<Result<(), Fault>>().await
            });
            // It is looked at once, and then its client has gone.
            let _ = tokio::time::timeout(Duration::ZERO, deed).await;
            tokio::task::yield_now().await;
            assert_eq!(beginnings.try_recv().is_ok(), expected);
        }
    }
}
