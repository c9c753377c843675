//! What is done beside the ledger in answer to a request: files of the repository, worktrees, programs of the person.
//! It takes its time and may block, so it has threads and a bound of its own; whoever may not do it is turned away here.

use std::sync::Arc;

use axum::http::HeaderMap;
use swarm_engine::paths::Paths;
use tokio::runtime::Handle;

use crate::api_state::{ApiState, Lost};
use crate::fault::Fault;
use crate::peer::{Caller, Role};

impl ApiState {
    /// Does it on a thread that may wait. It goes on when the client has gone, and ends with the coordinator: everything
    /// that is done by hand can be left at any moment.
    pub(crate) async fn by_hand<T, Doing>(
        &self,
        what: impl FnOnce(Paths) -> Doing + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        Doing: Future<Output = T>,
    {
        let place = Arc::clone(&self.hands).acquire_owned().await.map_err(|_| Lost)?;
        let (paths, end, handle) = (self.paths.clone(), self.end.clone(), Handle::current());
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            handle.block_on(end.run_until_cancelled(what(paths)))
        });
        match done.await {
            Ok(Some(done)) => Ok(done),
            Ok(None) => Err(Lost.into()),
            Err(error) => Err(Fault::world(error.to_string())),
        }
    }

    /// Turns away whoever may only look. An agent that tries is told of.
    pub(crate) async fn only_operators(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        what: &str,
    ) -> Result<(), Fault> {
        let role = caller.role(headers);
        if let (Role::Agent, Some(inside)) = (role, caller.inside()) {
            self.overstep(inside, what).await;
            let who = inside.run.as_ref().map_or_else(|| "a run".into(), |run| format!("run {run}"));
            return Err(Fault::not_for_agents(format!(
                "{what} was asked from inside {who}: an agent may not do this"
            )));
        }
        if role != Role::Operator {
            return Err(Fault::not_for_viewers(role));
        }
        Ok(())
    }
}
