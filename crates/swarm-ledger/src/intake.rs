//! The order of batches before they are on disk: who gets which seq, and who is refused.
//!
//! Pure bookkeeping: no file, no thread, no clock. The writer thread and the simulator both take
//! their groups from here, so group commit is a function of this queue alone.

use std::collections::VecDeque;

use crate::batch::{AppendError, Assigned, Batch, Done, Head};
use crate::planted::{self, Bug};

/// Batches that may wait; the next one waits outside until a group has been taken.
pub const QUEUE_BATCHES_MAX: usize = 4096;
/// Bytes that may wait.
pub const QUEUE_BYTES_MAX: usize = 8 << 20;
/// Bytes of one group, unless a single batch is larger.
pub const GROUP_BYTES_MAX: usize = 4 << 20;

/// A batch that has its seqs and waits for the disk.
pub struct Pending {
    pub batch: Batch,
    pub assigned: Assigned,
    pub done: Done,
}

/// Whether there is room on the disk, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Plenty,
    /// Only the room kept back is left: emergency batches only.
    ReserveOnly,
    /// Nothing is taken until `resume`.
    Refusing,
}

pub struct Intake {
    queue: VecDeque<Pending>,
    bytes: usize,
    next_seq: u64,
    epoch: u64,
    room: Room,
    ended: Option<AppendError>,
}

impl Intake {
    pub fn new(head: &Head, epoch: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            bytes: 0,
            next_seq: head.seq + 1,
            epoch,
            room: Room::Plenty,
            ended: None,
        }
    }

    pub fn is_full(&self) -> bool {
        self.queue.len() >= QUEUE_BATCHES_MAX || self.bytes >= QUEUE_BYTES_MAX
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn room(&self) -> Room {
        self.room
    }

    pub fn ended(&self) -> Option<&AppendError> {
        self.ended.as_ref()
    }

    /// Gives a batch its seqs. A refused batch leaves no trace: its `done` is dropped uncalled.
    pub fn admit(&mut self, batch: Batch, done: Done) -> Result<Assigned, AppendError> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        batch.check()?;
        if batch.epoch < self.epoch && !planted::is(Bug::EpochNotChecked) {
            return Err(AppendError::StaleEpoch { given: batch.epoch, current: self.epoch });
        }
        match self.room {
            Room::Refusing => return Err(AppendError::NoRoom("waiting for room".into())),
            Room::ReserveOnly if !batch.emergency => {
                return Err(AppendError::NoRoom("only the emergency room is left".into()));
            }
            Room::Plenty | Room::ReserveOnly => {}
        }
        let count = batch.fragments.len() as u64;
        let assigned = Assigned { first_seq: self.next_seq, last_seq: self.next_seq + count - 1 };
        self.next_seq += count;
        self.epoch = self.epoch.max(batch.epoch);
        self.bytes += batch.bytes_max();
        self.queue.push_back(Pending { batch, assigned, done });
        Ok(assigned)
    }

    /// The next group to write: everything that waits, up to a bound.
    pub fn take_group(&mut self) -> Vec<Pending> {
        let mut group = Vec::new();
        let mut bytes = 0;
        while let Some(next) = self.queue.front() {
            let size = next.batch.bytes_max();
            if !group.is_empty() && bytes + size > GROUP_BYTES_MAX {
                break;
            }
            bytes += size;
            group.extend(self.queue.pop_front());
        }
        self.bytes -= bytes;
        group
    }

    /// Takes in a failed commit and gives back what waited behind it, to be refused too: their seqs
    /// were counted on records that do not exist. The caller answers them outside its lock.
    #[must_use]
    pub fn fail(&mut self, error: &AppendError, durable: &Head, epoch: u64) -> Vec<Pending> {
        match error {
            AppendError::NoRoom(_) => self.room = Room::Refusing,
            _ => self.ended = Some(error.clone()),
        }
        self.next_seq = durable.seq + 1;
        self.epoch = epoch;
        self.bytes = 0;
        self.queue.drain(..).collect()
    }

    pub fn set_room(&mut self, room: Room) {
        self.room = room;
    }
}
