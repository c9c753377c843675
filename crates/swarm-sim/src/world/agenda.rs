//! What will happen when: ordered by time, then by the order in which it was planned.

use std::collections::BTreeMap;

use swarm_protocol::ids::RunId;
use swarm_protocol::time::Timestamp;

use super::people::Wish;
use swarm_core::input::Report;

#[derive(Debug, Clone)]
pub enum Happening {
    /// A coordinator starts.
    Start,
    /// The sync of the log returned to the coordinator of this epoch.
    Synced {
        epoch: u64,
    },
    Wake {
        epoch: u64,
    },
    /// An effect that failed has rested.
    LookAgain {
        epoch: u64,
    },
    /// An executor does its deed in the world.
    ExecutorActs {
        executor: u64,
    },
    /// An executor's answer reaches the coordinator.
    ExecutorEnds {
        executor: u64,
    },
    /// A daemon's next step; void if the daemon has turned to something else.
    Daemon {
        run: RunId,
        turn: u64,
    },
    /// A daemon's frame reaches the coordinator through this executor.
    Frame {
        executor: u64,
        n: u64,
    },
    /// A report comes once more, from nowhere.
    Again {
        report: Box<Report>,
    },
    Person,
    Asked {
        wish: Box<Wish>,
    },
    /// The person's checkout, or the trunk under it, changes.
    Outside,
    OldCoordinatorWakes,
    /// Faults have stopped: a person looks after what is stuck.
    Caretaker,
}

#[derive(Debug, Default)]
pub struct Agenda {
    planned: BTreeMap<(Timestamp, u64), Happening>,
    count: u64,
}

impl Agenda {
    pub fn at(&mut self, when: Timestamp, what: Happening) {
        self.count += 1;
        self.planned.insert((when, self.count), what);
    }

    pub fn next(&mut self) -> Option<(Timestamp, Happening)> {
        self.planned.pop_first().map(|((when, _), what)| (when, what))
    }
}
