//! Words on the way, for clients that ask for them: how long a call takes is the swarm's matter, that it goes on is not.

use std::future::Future;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use swarm_server::ledger::Look;
use tokio::time::{Instant, interval_at};

use crate::call::status_sentence;
use crate::limits::PROGRESS_EVERY;
use crate::source::Source;

/// The call, and between its beginning and its end a sentence about the swarm now and then.
pub async fn told<T>(
    peer: &Peer<RoleServer>,
    source: &Source,
    token: ProgressToken,
    call: impl Future<Output = T>,
) -> T {
    tokio::pin!(call);
    let mut ticks = interval_at(Instant::now() + PROGRESS_EVERY, PROGRESS_EVERY);
    let mut count = 0.0;
    loop {
        tokio::select! {
            biased;
            done = &mut call => return done,
            _ = ticks.tick() => {}
        }
        count += 1.0;
        let word = async {
            let seen = source.look(Look::Status, None).await;
            let sentence = seen.map_or_else(|error| error.message, |seen| status_sentence(&seen.view));
            let told = ProgressNotificationParam::new(token.clone(), count).with_message(sentence);
            // Where nobody listens there is nobody to tell.
            let _ = peer.notify_progress(told).await;
        };
        tokio::select! {
            biased;
            done = &mut call => return done,
            () = word => {}
        }
    }
}
