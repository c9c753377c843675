//! The end of a coordinator in good order, and what it leaves behind.

use swarm_core::State;
use swarm_core::input::Input;

use super::turn::durable;
use super::{Coordinator, position, traced};
use crate::store::{Notice, StoreError};
use crate::unsaved::{Unsaved, unsaved};

/// What a coordinator leaves behind.
pub struct Finished {
    pub state: State,
    pub notices: Vec<Notice>,
    /// What agents had not committed and nobody could save.
    pub unsaved: Vec<Unsaved>,
}

impl Coordinator {
    /// Leaves in good order: the last record, the anchor, the snapshot, the projections, the locks.
    pub async fn leave(mut self) -> Result<Finished, StoreError> {
        // What agents' own git wrote was never synced. Whoever cannot sync it has not left in good order, and the next
        // one looks for what a power cut has torn.
        if self.world.git.make_durable().await.is_ok() {
            self.say_goodbye().await?;
        }
        if let (Some(head), Some(id)) = (self.store.head(), self.store.ledger_id()) {
            // A witness more; without it the ledger is as true as before.
            let _ = crate::anchor::set(&self.world.git, id, head).await;
            let _ = self.world.git.make_durable().await;
        }
        self.world.git.clear_own_ref_locks().await;
        let state = self.store.state().clone();
        if state.tasks.values().all(|task| task.stage.is_closed()) {
            self.world.drop_pool().await;
            self.world.drop_shared_tree().await;
            let _ = swarm_work::merge_tree::discard(&self.world.git, &self.world.merge_worktree()).await;
        }
        let no_room = self.stops_without_room.is_some();
        let unsaved = unsaved(&state, &self.world.paths, no_room);
        let notices = match self.store.finish() {
            // What is derived from the ledger is made again by the next one, when there is room.
            Err(error) if no_room => vec![Notice::new(error.to_string(), error.hint())],
            finished => finished?,
        };
        Ok(Finished { state, notices, unsaved })
    }

    /// The last record. Without room for it the next coordinator finds one that seems to have been killed, and nothing is lost.
    async fn say_goodbye(&mut self) -> Result<(), StoreError> {
        match durable(&mut self.store, Input::Leaving, self.clock.now()).await {
            Ok(told) => traced::durable(&told),
            Err(StoreError::NoRoom(_)) => self.store.reload()?,
            Err(error) => return Err(error),
        }
        self.feed.durable(position(&self.store));
        Ok(())
    }
}
