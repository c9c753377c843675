//! How many may be connected: places for callers, places for daemons, and a few for each attempt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::peer::Inside;

#[derive(Debug)]
pub struct Places {
    callers: Arc<Semaphore>,
    daemons: Arc<Semaphore>,
    per_attempt: usize,
    /// Connections out of each attempt that has any.
    attempts: Mutex<BTreeMap<Inside, usize>>,
}

/// A place taken; given back when it is dropped.
#[derive(Debug)]
pub struct Place {
    _seat: OwnedSemaphorePermit,
    /// Only a daemon may sit here.
    pub daemons_only: bool,
    attempt: Option<(Arc<Places>, Inside)>,
}

impl Places {
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            callers: Arc::new(Semaphore::new(limits.callers)),
            daemons: Arc::new(Semaphore::new(limits.daemons)),
            per_attempt: limits.per_attempt,
            attempts: Mutex::default(),
        })
    }

    /// Waits until there is a place of any kind; callers' places are given first.
    pub async fn any(self: &Arc<Self>) -> Option<Place> {
        let (seat, daemons_only) = match Arc::clone(&self.callers).try_acquire_owned() {
            Ok(seat) => (seat, false),
            Err(_) => tokio::select! {
                biased;
                seat = Arc::clone(&self.callers).acquire_owned() => (seat.ok()?, false),
                seat = Arc::clone(&self.daemons).acquire_owned() => (seat.ok()?, true),
            },
        };
        Some(Place { _seat: seat, daemons_only, attempt: None })
    }

    /// Moves a daemon to a place of its own kind, where there is one, so that callers get theirs back.
    pub fn seat_daemon(self: &Arc<Self>, place: &mut Place) {
        if place.daemons_only {
            return;
        }
        if let Ok(seat) = Arc::clone(&self.daemons).try_acquire_owned() {
            place._seat = seat;
            place.daemons_only = true;
        }
    }

    /// Notes that the place is taken out of an attempt; false when that one has too many already.
    pub fn count(self: &Arc<Self>, place: &mut Place, inside: &Inside) -> bool {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = attempts.entry(inside.clone()).or_default();
        if *taken >= self.per_attempt {
            return false;
        }
        *taken += 1;
        place.attempt = Some((Arc::clone(self), inside.clone()));
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((places, inside)) = self.attempt.take() else { return };
        let mut attempts = places.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = attempts.get_mut(&inside) {
            *taken -= 1;
            if *taken == 0 {
                attempts.remove(&inside);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn callers_leave_places_for_daemons_and_an_attempt_takes_only_its_share() {
        let limits = Limits { callers: 2, daemons: 1, per_attempt: 1, ..Limits::default() };
        let places = Places::new(&limits);
        let mut first = places.any().await.expect("a place");
        let second = places.any().await.expect("a place");
        let third = places.any().await.expect("a place");
        assert_eq!([first.daemons_only, second.daemons_only, third.daemons_only], [false, false, true]);
        drop(third);
        // A daemon that came in by a caller's place gives it back.
        places.seat_daemon(&mut first);
        assert!(!places.any().await.expect("a place").daemons_only);
        let inside = Inside { run: None, nonce: Some("n".into()) };
        let mut place = places.any().await.expect("a place");
        assert!(places.count(&mut place, &inside));
        assert!(!places.count(&mut first, &inside));
        drop(place);
        assert!(places.count(&mut first, &inside));
    }
}
