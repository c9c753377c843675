//! The ledger as the coordinator sees it: batches that are durable or not, under an epoch.

use std::collections::BTreeSet;

use swarm_core::state::State;
use swarm_protocol::event::Event;
use swarm_protocol::ids::CommandId;
use swarm_protocol::record::{RecordError, body, event_of};
use swarm_protocol::time::Timestamp;

/// One decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub at: Timestamp,
    pub events: Vec<Event>,
}

#[derive(Debug, Default)]
pub struct Log {
    batches: Vec<Batch>,
    epoch: u64,
    /// What follows from the batches, taken in one by one as they become durable. A replay from
    /// empty is the same work done again; the end of each story does it, through the written form.
    state: State,
}

impl Log {
    /// Makes a batch durable; only the newest coordinator may.
    pub fn append(&mut self, epoch: u64, batch: Batch, epoch_checked: bool) -> bool {
        if epoch_checked && epoch < self.epoch {
            return false;
        }
        self.epoch = self.epoch.max(epoch);
        replay_onto(&mut self.state, std::slice::from_ref(&batch));
        self.batches.push(batch);
        true
    }

    /// The new coordinator has the owner's lock: from now on older ones are refused.
    pub fn take_over(&mut self, epoch: u64) {
        self.epoch = self.epoch.max(epoch);
    }

    pub fn len(&self) -> usize {
        self.batches.len()
    }

    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.batches.iter().flat_map(|batch| batch.events.iter())
    }

    /// The ids of all commands that were carried out.
    pub fn operations(&self) -> BTreeSet<&CommandId> {
        self.events()
            .filter_map(|event| if let Event::Operation { id, .. } = event { Some(id) } else { None })
            .collect()
    }

    /// Whether the coordinator of this epoch got as far as its first record.
    pub fn knows_epoch(&self, asked: u64) -> bool {
        self.events()
            .rev()
            .any(|event| matches!(event, Event::CoordinatorStarted { epoch, .. } if *epoch == asked))
    }

    /// The state that follows from the log alone.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state of somebody who has only the bytes of the log.
    pub fn replay_written(&self) -> Result<State, RecordError> {
        let mut state = State::default();
        for batch in &self.batches {
            for event in &batch.events {
                let body = body(event, "person:cli", None);
                let read = event_of(body.as_bytes())?;
                state.apply(&read, batch.at);
            }
        }
        Ok(state)
    }
}

pub fn replay_onto(state: &mut State, batches: &[Batch]) {
    for batch in batches {
        for event in &batch.events {
            state.apply(event, batch.at);
        }
    }
}
