//! What differs between two commits, as it was found lately: a merge asks for the same pair at each of its steps.
//!
//! What two names of objects stand for never changes, so nothing here can be out of date. It is short, because a pair
//! that no merge is about any more is not asked for again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use swarm_protocol::ids::Oid;

use super::entry::Change;

/// The pairs of a merge, and those of the one that is checked meanwhile.
const PAIRS_MAX: usize = 6;

/// Longer lists are found again: they would be held in memory for nothing.
const CHANGES_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct KnownChanges(Mutex<VecDeque<(Oid, Oid, Vec<Change>)>>);

impl KnownChanges {
    pub fn of(&self, old: &Oid, new: &Oid) -> Option<Vec<Change>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(from, to, _)| from == old && to == new).map(|(_, _, changes)| changes.clone())
    }

    pub fn keep(&self, old: &Oid, new: &Oid, changes: &[Change]) {
        if changes.len() > CHANGES_MAX {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.truncate(PAIRS_MAX - 1);
        known.push_front((old.clone(), new.clone(), changes.to_vec()));
    }
}
