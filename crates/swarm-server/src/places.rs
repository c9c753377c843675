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
    all_attempts: usize,
    /// Connections out of each attempt that has any; none: of those that nobody could look at, who may be agents.
    attempts: Mutex<BTreeMap<Option<Inside>, usize>>,
}

/// A place taken; given back when it is dropped.
#[derive(Debug)]
pub struct Place {
    _seat: OwnedSemaphorePermit,
    /// Only a daemon may sit here.
    pub daemons_only: bool,
    attempt: Option<(Arc<Places>, Option<Inside>)>,
}

impl Places {
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            callers: Arc::new(Semaphore::new(limits.callers)),
            daemons: Arc::new(Semaphore::new(limits.daemons)),
            per_attempt: limits.per_attempt,
            all_attempts: limits.all_attempts,
            attempts: Mutex::default(),
        })
    }

    /// Waits until there is a place of any kind; callers' places are given first. For people and daemons.
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

    /// A caller's place for a program of an attempt, or of nobody that could be looked at. None when that one has its
    /// share already: nobody waits for it.
    pub fn of_attempt(self: &Arc<Self>, inside: Option<&Inside>) -> Option<Place> {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = inside.cloned();
        let taken = attempts.get(&inside).copied().unwrap_or_default();
        if taken >= self.per_attempt || attempts.values().sum::<usize>() >= self.all_attempts {
            return None;
        }
        let seat = Arc::clone(&self.callers).try_acquire_owned().ok()?;
        attempts.insert(inside.clone(), taken + 1);
        Some(Place { _seat: seat, daemons_only: false, attempt: Some((Arc::clone(self), inside)) })
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
    async fn callers_leave_places_for_daemons() {
        let limits = Limits { callers: 2, daemons: 1, ..Limits::default() };
        let places = Places::new(&limits);
        let mut first = places.any().await.expect("a place");
        let second = places.any().await.expect("a place");
        let third = places.any().await.expect("a place");
        assert_eq!([first.daemons_only, second.daemons_only, third.daemons_only], [false, false, true]);
        drop(third);
        // A daemon that came in by a caller's place gives it back.
        places.seat_daemon(&mut first);
        assert!(!places.any().await.expect("a place").daemons_only);
        // A program of an attempt waits for none, and takes none of theirs.
        let third = places.any().await.expect("a place");
        assert!(!third.daemons_only && places.of_attempt(None).is_none());
        drop((second, third));
        assert!(places.of_attempt(None).is_some());
    }

    #[test]
    fn an_attempt_takes_only_its_share_and_all_of_them_leave_some_to_people() {
        let limits = Limits { callers: 9, per_attempt: 2, all_attempts: 3, ..Limits::default() };
        let places = Places::new(&limits);
        let of = |nonce: &str| Inside { run: None, nonce: Some(nonce.into()) };
        let (one, other) = (of("a"), of("b"));
        let mut taken: Vec<Place> = (0..2).filter_map(|_| places.of_attempt(Some(&one))).collect();
        assert_eq!(taken.len(), 2);
        assert!(places.of_attempt(Some(&one)).is_none(), "it has its share");
        taken.extend(places.of_attempt(Some(&other)));
        assert_eq!(taken.len(), 3);
        assert!(
            places.of_attempt(Some(&other)).is_none() && places.of_attempt(None).is_none(),
            "all have theirs"
        );
        taken.clear();
        let unseen: Vec<Place> = (0..3).filter_map(|_| places.of_attempt(None)).collect();
        assert_eq!(unseen.len(), 2, "those that nobody could look at are as one attempt");
    }
}
