//! Sends the spans of a run to a collector while it goes on: OTLP over HTTP, as JSON.
//!
//! The ledger is the queue. Whoever sends reads durable records at their own pace, and notes up to which record
//! everything has been taken. So a collector that is away or slow costs the swarm nothing, and nothing has to be kept for
//! it; after a kill the next coordinator goes on behind that record and sends again at most what was on its way, under the
//! same ids.

mod follow;
mod mark;
mod send;

use std::time::Duration;

use swarm_engine::feed::Feed;
use swarm_engine::paths::Paths;
use swarm_protocol::config::Collector;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use follow::Follower;
use mark::Mark;

/// How long the end of a run waits for a collector to take the last spans; the next run sends what is left.
const FAREWELL: Duration = Duration::from_secs(2);

/// The file beside the coordinator's.
const MARK: &str = "telemetry.json";

#[derive(Debug)]
pub struct Telemetry {
    ending: CancellationToken,
    following: JoinHandle<()>,
}

impl Telemetry {
    /// Begins to send what the collector has not had yet.
    pub fn start(collector: Collector, paths: &Paths, feed: Feed) -> Self {
        let ending = CancellationToken::new();
        let mark = Mark::at(paths.run.join(MARK));
        let follower = Follower::new(
            collector,
            (paths.ledger.clone(), paths.agents.clone()),
            mark,
            feed,
            ending.clone(),
        );
        Self { ending, following: tokio::spawn(follower.follow()) }
    }

    /// Sends what is left, within bounds. To be called when the last record is durable.
    pub async fn end(mut self) {
        self.ending.cancel();
        if tokio::time::timeout(FAREWELL, &mut self.following).await.is_err() {
            tracing::info!("the collector has not taken everything yet; the next run goes on");
            self.following.abort();
        }
    }
}
