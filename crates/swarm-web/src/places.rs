//! How many may be connected, and who makes room: the oldest connection that asks for nothing, then the oldest that has
//! not shown a session. So whoever opens thousands and says nothing takes places only from their own kind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

pub struct Places {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    next: u64,
    /// Those that may be asked to leave, by age: first who asks for nothing, then whose request is being judged.
    silent: BTreeMap<u64, CancellationToken>,
    judged: BTreeMap<u64, CancellationToken>,
}

/// A place; given back when it is dropped.
pub struct Place {
    places: Arc<Places>,
    number: u64,
    /// Cancelled when somebody else needs it.
    pub leave: CancellationToken,
}

impl Places {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None when everybody who is here may stay.
    pub fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut taken = self.taken();
        if taken.all >= self.most {
            let (_, oldest) = taken.silent.pop_first().or_else(|| taken.judged.pop_first())?;
            oldest.cancel();
        }
        taken.all += 1;
        taken.next += 1;
        let (number, leave) = (taken.next, CancellationToken::new());
        taken.silent.insert(number, leave.clone());
        Some(Place { places: Arc::clone(self), number, leave })
    }
}

impl Place {
    /// It has asked for something: asked to leave only when there is none that has not.
    pub fn speak(&self) {
        let mut taken = self.places.taken();
        if let Some(leave) = taken.silent.remove(&self.number) {
            taken.judged.insert(self.number, leave);
        }
    }

    /// It has shown a session and works for it: not asked to leave.
    pub fn keep(&self) {
        let mut taken = self.places.taken();
        taken.silent.remove(&self.number);
        taken.judged.remove(&self.number);
    }

    /// It waits for its next request: may be asked to leave again.
    pub fn idle(&self) {
        if !self.leave.is_cancelled() {
            let mut taken = self.places.taken();
            taken.judged.remove(&self.number);
            taken.silent.insert(self.number, self.leave.clone());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all -= 1;
        taken.silent.remove(&self.number);
        taken.judged.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_unknown_makes_room_and_those_at_work_stay() {
        let places = Places::new(2);
        let (first, second) = (places.enter().expect("a place"), places.enter().expect("a place"));
        first.keep();
        let third = places.enter().expect("a place");
        assert!(second.leave.is_cancelled() && !first.leave.is_cancelled());
        drop(second);
        third.keep();
        assert!(places.enter().is_none(), "both are at work");
        first.idle();
        let fourth = places.enter().expect("a place");
        assert!(first.leave.is_cancelled() && !fourth.leave.is_cancelled());
    }

    #[test]
    fn who_asks_for_something_outlasts_any_number_of_those_who_say_nothing() {
        let places = Places::new(2);
        let asking = places.enter().expect("a place");
        asking.speak();
        for _ in 0..3 {
            let silent = places.enter().expect("a place");
            let next = places.enter().expect("a place");
            assert!(silent.leave.is_cancelled() && !next.leave.is_cancelled());
        }
        assert!(!asking.leave.is_cancelled());
        let other = places.enter().expect("a place");
        other.speak();
        let third = places.enter().expect("a place");
        assert!(asking.leave.is_cancelled() && !other.leave.is_cancelled() && !third.leave.is_cancelled());
    }
}
