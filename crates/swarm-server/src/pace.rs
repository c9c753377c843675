//! How often one attempt may ask: so many questions at once, then one every so often.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::Limits;
use crate::peer::Inside;

/// Attempts that are remembered. One that has not asked for a while needs not be.
const ATTEMPTS_MAX: usize = 1024;

#[derive(Debug)]
pub struct Pace {
    /// How far an attempt may be ahead of the pace when it asks once more.
    ahead: Duration,
    every: Duration,
    /// When each attempt would have asked all it has, had it kept the pace.
    kept: Mutex<BTreeMap<Inside, Instant>>,
}

impl Pace {
    pub fn new(limits: &Limits) -> Self {
        let Limits { asks_at_once, ask_every, .. } = *limits;
        Self { ahead: ask_every * asks_at_once.saturating_sub(1), every: ask_every, kept: Mutex::default() }
    }

    /// Notes a question; false: it comes too soon.
    pub fn may_ask(&self, inside: &Inside, now: Instant) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= ATTEMPTS_MAX && !kept.contains_key(inside) {
            kept.retain(|_, until| *until > now);
            if kept.len() >= ATTEMPTS_MAX {
                return false;
            }
        }
        let until = kept.entry(inside.clone()).or_insert(now);
        let from = (*until).max(now);
        if from.duration_since(now) > self.ahead {
            return false;
        }
        *until = from + self.every;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_may_ask_some_at_once_and_then_one_by_one() {
        let second = Duration::from_secs(1);
        let pace = Pace::new(&Limits { asks_at_once: 3, ask_every: second, ..Limits::default() });
        let of = |nonce: &str| Inside { run: None, nonce: Some(nonce.into()) };
        let (one, other, now) = (of("a"), of("b"), Instant::now());
        assert_eq!([0; 5].map(|_| pace.may_ask(&one, now)), [true, true, true, false, false]);
        assert!(pace.may_ask(&other, now), "each attempt has its own");
        let (third, soon) = (of("c"), [0, 1, 2, 3, 4].map(|ms| now + Duration::from_millis(ms)));
        assert_eq!(soon.map(|at| pace.may_ask(&third, at)), [true, true, true, false, false]);
        assert_eq!([0; 2].map(|_| pace.may_ask(&one, now + second)), [true, false]);
        assert_eq!([0; 4].map(|_| pace.may_ask(&one, now + 60 * second)), [true, true, true, false]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let pace = Pace::new(&Limits::default());
        let (now, of) = (Instant::now(), |n: usize| Inside { run: None, nonce: Some(n.to_string()) });
        assert!((0..ATTEMPTS_MAX).all(|n| pace.may_ask(&of(n), now)));
        assert!(!pace.may_ask(&of(ATTEMPTS_MAX), now), "all of them have just asked");
        assert!(pace.may_ask(&of(ATTEMPTS_MAX), now + Duration::from_secs(60)));
        assert_eq!(pace.kept.lock().expect("whole").len(), 1);
    }
}
