//! What the log says of each call of git.

use std::time::Instant;

use swarm_process::Ended;
use tracing::{Instrument, debug, debug_span, warn};

use super::call::GitError;

/// Carries the call out, and says how it ended and how long it took.
pub async fn traced(
    command: String,
    call: impl Future<Output = Result<Ended, GitError>>,
) -> Result<Ended, GitError> {
    let span = debug_span!("git", command);
    let call = async {
        let begun = Instant::now();
        let ended = call.await;
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &ended {
            Ok(Ended { status, stdout, .. }) => debug!(ms, %status, bytes = stdout.len(), "git has ended"),
            Err(error) => warn!(ms, %error, "git was not carried out"),
        }
        ended
    };
    call.instrument(span).await
}
