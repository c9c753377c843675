//! Which effects are in flight. Started = owed and not in flight; cancelled = in flight and no longer owed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use swarm_core::effect::{Effect, Key, Lane};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// First pause before an effect that ended and is still owed is asked for again; doubled each time.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
const AGAIN_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub struct Flights {
    in_flight: BTreeMap<Key, Flight>,
    /// Effects that ended without settling what is owed: the world failed them.
    resting: BTreeMap<Key, Rest>,
}

#[derive(Debug)]
struct Flight {
    lane: Lane,
    cancel: CancellationToken,
}

#[derive(Debug)]
struct Rest {
    until: Instant,
    times: u32,
}

/// What a look at the owed effects leads to.
#[derive(Debug, Default)]
pub struct Moves {
    pub start: Vec<(Effect, CancellationToken)>,
    /// When a resting effect may be asked for again.
    pub look_again: Option<Instant>,
}

impl Flights {
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    #[cfg(test)]
    fn has(&self, key: &Key) -> bool {
        self.in_flight.contains_key(key)
    }

    /// Compares what is owed with what is under way.
    pub fn moves(&mut self, owed: Vec<Effect>, now: Instant) -> Moves {
        let keys: BTreeSet<Key> = owed.iter().map(Effect::key).collect();
        for (_, flight) in self.in_flight.iter().filter(|(key, _)| !keys.contains(*key)) {
            flight.cancel.cancel();
        }
        self.resting.retain(|key, _| keys.contains(key));
        let mut lanes: BTreeSet<Lane> = self.in_flight.values().map(|f| f.lane.clone()).collect();
        let mut moves = Moves::default();
        for effect in owed {
            let (key, lane) = (effect.key(), effect.lane());
            if self.in_flight.contains_key(&key) || lanes.contains(&lane) {
                continue;
            }
            if let Some(rest) = self.resting.get(&key).filter(|rest| rest.until > now) {
                moves.look_again = Some(moves.look_again.map_or(rest.until, |at| at.min(rest.until)));
                continue;
            }
            let cancel = CancellationToken::new();
            lanes.insert(lane.clone());
            self.in_flight.insert(key, Flight { lane, cancel: cancel.clone() });
            moves.start.push((effect, cancel));
        }
        moves
    }

    /// The effect has ended in its report. If it is owed again at once, it has to wait a little.
    pub fn ended(&mut self, key: &Key, now: Instant) {
        self.in_flight.remove(key);
        let times = self.resting.get(key).map_or(0, |rest| rest.times);
        let pause = AGAIN_AFTER.saturating_mul(1 << times.min(10)).min(AGAIN_MAX);
        self.resting.insert(key.clone(), Rest { until: now + pause, times: times + 1 });
    }

    /// The effect did what was owed: if it is owed again, that is a new matter.
    pub fn settled(&mut self, key: &Key) {
        self.resting.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_protocol::ids::{RunId, TaskId};

    fn stop(n: u64) -> Effect {
        Effect::Stop { run: RunId::nth(n), task: TaskId::new("a").unwrap(), nonce: String::new(), work: true }
    }

    fn prepare(n: u64) -> Effect {
        Effect::Prepare { run: RunId::nth(n), task: TaskId::new("a").unwrap(), from: None }
    }

    #[test]
    fn an_effect_is_started_once_and_its_lane_is_kept_free() {
        let now = Instant::now();
        let mut flights = Flights::default();
        assert_eq!(flights.moves(vec![prepare(1), prepare(2)], now).start.len(), 2);
        assert_eq!(flights.moves(vec![prepare(1), prepare(2)], now).start.len(), 0);
        // The run's stop waits until its preparation has reported.
        let moves = flights.moves(vec![stop(1), prepare(2)], now);
        assert!(moves.start.is_empty());
        flights.ended(&prepare(1).key(), now);
        assert_eq!(flights.moves(vec![stop(1), prepare(2)], now).start[0].0, stop(1));
    }

    #[test]
    fn what_is_no_longer_owed_is_cancelled_but_stays_in_flight_until_it_reports() {
        let now = Instant::now();
        let mut flights = Flights::default();
        let token = flights.moves(vec![prepare(1)], now).start.remove(0).1;
        flights.moves(vec![], now);
        assert!(token.is_cancelled() && flights.has(&prepare(1).key()));
    }

    #[test]
    fn an_effect_that_failed_is_asked_for_again_later_and_later() {
        let mut now = Instant::now();
        let mut flights = Flights::default();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            assert_eq!(flights.moves(vec![prepare(1)], now).start.len(), 1);
            flights.ended(&prepare(1).key(), now);
            let moves = flights.moves(vec![prepare(1)], now);
            assert!(moves.start.is_empty());
            let until = moves.look_again.expect("a time to look again");
            pauses.push((until - now).as_millis());
            now = until;
        }
        assert_eq!(pauses, [200, 400, 800, 1600]);
    }
}
