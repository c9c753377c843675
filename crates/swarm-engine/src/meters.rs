//! What a running coordinator counts of itself, for monitoring. Nothing depends on it, and nothing waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use swarm_core::metrics::Live;

#[derive(Debug, Clone, Default)]
pub struct Meters(Arc<Mutex<Live>>);

impl Meters {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> Live {
        self.live().clone()
    }

    /// From the decision to the disk.
    pub fn appended(&self, took: Duration) {
        self.live().append.note(took.as_secs_f64());
    }

    /// An effect that begins; it is over when what this gives is dropped.
    pub fn effect(&self, verb: &'static str) -> InFlight {
        self.live().effects.entry(verb).or_default().in_flight += 1;
        InFlight { meters: self.clone(), verb, since: Instant::now() }
    }

    /// A request was answered.
    pub fn asked(&self, route: Option<&str>, code: u16, took: Duration) {
        self.live().asked(route, code, took.as_secs_f64());
    }

    pub fn follows(&self) {
        self.live().feed_clients += 1;
    }

    pub fn leaves(&self) {
        let mut live = self.live();
        live.feed_clients = live.feed_clients.saturating_sub(1);
    }

    pub fn cut(&self) {
        self.live().feed_cuts += 1;
    }
}

#[derive(Debug)]
pub struct InFlight {
    meters: Meters,
    verb: &'static str,
    since: Instant,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut live = self.meters.live();
        let times = live.effects.entry(self.verb).or_default();
        times.in_flight = times.in_flight.saturating_sub(1);
        times.seconds.note(self.since.elapsed().as_secs_f64());
    }
}
