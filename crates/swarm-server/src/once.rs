//! Deeds by the ids of their clients: one that is asked for again is not done again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use swarm_protocol::deed::{Deed, DeedDone};
use swarm_protocol::ids::CommandId;
use tokio::sync::OnceCell;

/// Deeds that are remembered. What is older is looked for where it was done.
const REMEMBERED: usize = 256;

/// Deeds by the names that their clients gave them.
#[derive(Debug, Default)]
pub struct Deeds {
    known: Mutex<VecDeque<Known>>,
}

#[derive(Debug)]
struct Known {
    id: CommandId,
    deed: Deed,
    done: Arc<OnceCell<DeedDone>>,
}

impl Deeds {
    /// Where the answer of this deed is kept once there is one; none: the id is another deed's. What failed has no
    /// answer, and is tried again.
    pub fn of(&self, id: &CommandId, deed: &Deed) -> Option<Arc<OnceCell<DeedDone>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = known.iter().find(|one| one.id == *id) {
            return (one.deed == *deed).then(|| Arc::clone(&one.done));
        }
        // One that is under way is not forgotten: asked for again, it would be done twice. There are never more of them
        // than there may be callers.
        let is_over = |one: &Known| Arc::strong_count(&one.done) == 1;
        if known.len() >= REMEMBERED
            && let Some(oldest) = known.iter().position(is_over)
        {
            known.remove(oldest);
        }
        let done = Arc::default();
        known.push_back(Known { id: id.clone(), deed: deed.clone(), done: Arc::clone(&done) });
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_not_forgotten_whatever_comes_after_it() {
        let deeds = Deeds::default();
        let id = |n: usize| CommandId::new(format!("d{n}")).expect("an id");
        let first = deeds.of(&id(0), &Deed::Fix).expect("a new id");
        for n in 1..=2 * REMEMBERED {
            assert!(deeds.of(&id(n), &Deed::Fix).is_some());
        }
        let again = deeds.of(&id(0), &Deed::Fix).expect("the same deed");
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(deeds.known.lock().expect("whole").len(), REMEMBERED);
    }
}
