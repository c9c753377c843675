//! Deeds are carried out on tasks of their own: whoever hangs up in the middle leaves nothing half done or unrecorded.

use std::sync::Arc;

use crate::api_state::ApiState;
use crate::fault::{Fault, NO_ANSWER};

impl ApiState {
    /// Goes on when the client has gone, and ends with the coordinator.
    pub(crate) async fn to_the_end<T, Doing>(
        self: &Arc<Self>,
        what: impl FnOnce(Arc<Self>) -> Doing,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        Doing: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let doing = tokio::spawn(what(Arc::clone(self)));
        doing.await.unwrap_or_else(|_| Err(Fault::lost(NO_ANSWER, "swarm doctor")))
    }
}
