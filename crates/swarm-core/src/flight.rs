//! What is in flight. Started = owed and not in flight; cancelled = in flight and no longer owed.
//!
//! The core says which effects begin, which are told to stop, and when to look again; whoever drives it
//! (the coordinator, the simulator) keeps what it needs to carry them out under their keys.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::time::Timestamp;

use crate::effect::{Effect, Key, Lane};
use crate::planted::{self, Bug};
use crate::state::State;

/// The first pause before an effect that ended and is still owed is asked for again; doubled each time.
pub const REST_FIRST_MS: u64 = 200;
/// The longest such pause.
pub const REST_MAX_MS: u64 = 30_000;

#[derive(Debug, Clone, Default)]
pub struct Flights {
    in_flight: BTreeMap<Key, Flight>,
    /// Effects that ended without settling what is owed: the world failed them.
    resting: BTreeMap<Key, Rest>,
}

#[derive(Debug, Clone)]
struct Flight {
    /// As it was last asked for.
    effect: Effect,
    cancelled: bool,
}

#[derive(Debug, Clone, Copy)]
struct Rest {
    until: Timestamp,
    times: u32,
}

/// What a look at the owed effects leads to.
#[derive(Debug, Clone, Default)]
pub struct Moves {
    /// To be told to stop, each once. They stay in flight until they have ended in their report.
    pub cancel: Vec<Key>,
    /// In flight and wanted otherwise than before: a new order for whoever carries it out.
    pub change: Vec<Effect>,
    /// To be begun, in this order.
    pub start: Vec<Effect>,
    /// When a resting effect may be asked for again.
    pub look_again: Option<Timestamp>,
}

impl Flights {
    /// Whether nothing is under way but watches, which end with the loop.
    pub fn is_idle(&self) -> bool {
        self.in_flight.keys().all(Key::is_watch)
    }

    pub fn has(&self, key: &Key) -> bool {
        self.in_flight.contains_key(key)
    }

    /// How often in a row the effect has ended without settling what is owed.
    pub fn failures(&self, key: &Key) -> u32 {
        self.resting.get(key).map_or(0, |rest| rest.times)
    }

    /// Compares what is owed with what is under way. `now` comes from a clock that never goes back.
    pub fn moves(&mut self, owed: Vec<Effect>, now: Timestamp) -> Moves {
        let keys: BTreeSet<Key> = owed.iter().map(Effect::key).collect();
        self.resting.retain(|key, _| keys.contains(key));
        let mut moves = Moves::default();
        for (key, flight) in self.in_flight.iter_mut().filter(|(key, f)| !f.cancelled && !keys.contains(*key))
        {
            flight.cancelled = true;
            moves.cancel.push(key.clone());
        }
        let mut lanes: BTreeSet<Lane> = self.in_flight.values().map(|f| f.effect.lane()).collect();
        for effect in owed {
            let (key, lane) = (effect.key(), effect.lane());
            if let Some(flight) = self.in_flight.get_mut(&key) {
                if !flight.cancelled && flight.effect != effect {
                    flight.effect = effect.clone();
                    moves.change.push(effect);
                }
                continue;
            }
            if lanes.contains(&lane) && !planted::is(Bug::LaneShared) {
                continue;
            }
            if let Some(rest) = self.resting.get(&key).filter(|rest| rest.until > now) {
                moves.look_again = Some(moves.look_again.map_or(rest.until, |at| at.min(rest.until)));
                continue;
            }
            lanes.insert(lane);
            self.in_flight.insert(key, Flight { effect: effect.clone(), cancelled: false });
            moves.start.push(effect);
        }
        moves
    }

    /// The effect has ended in its report. One that is owed all the same rests before it is asked for
    /// again, longer each time; for any other that would be a new matter.
    pub fn ended(&mut self, key: &Key, still_owed: bool, now: Timestamp) {
        self.in_flight.remove(key);
        if !still_owed || planted::is(Bug::FailedEffectNeverRests) {
            self.resting.remove(key);
            return;
        }
        let times = self.resting.get(key).map_or(0, |rest| rest.times);
        let until = now.plus_ms(rest_ms(times));
        self.resting.insert(key.clone(), Rest { until, times: times.saturating_add(1) });
    }
}

/// Whether an effect under way is told to stop although it is owed: nobody will work in a worktree that is being made when
/// the swarm ends.
pub fn is_cut_short(state: &State, key: &Key) -> bool {
    state.draining && matches!(key, Key::Prepare(_))
}

/// How long an effect rests that has failed so many times before in a row.
pub fn rest_ms(times: u32) -> u64 {
    REST_FIRST_MS.saturating_mul(1 << times.min(10)).min(REST_MAX_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::WorkOrder;
    use swarm_protocol::ids::{AgentId, RunId, TaskId};

    const NOW: Timestamp = Timestamp(1_000_000);

    fn task() -> TaskId {
        TaskId::new("a").expect("a plain id")
    }

    fn stop(n: u64) -> Effect {
        Effect::Stop { run: RunId::nth(n), task: task(), nonce: String::new(), work: true }
    }

    fn prepare(n: u64) -> Effect {
        Effect::Prepare { run: RunId::nth(n), task: task(), from: None, base: None, shared: None }
    }

    fn work(n: u64, order: WorkOrder) -> Effect {
        Effect::Work {
            run: RunId::nth(n),
            task: task(),
            agent: AgentId::nth(1),
            attempt: 1,
            start: 1,
            nonce: String::new(),
            profile: None,
            order,
        }
    }

    #[test]
    fn an_effect_is_started_once_and_its_lane_is_kept_free() {
        let mut flights = Flights::default();
        assert_eq!(flights.moves(vec![prepare(1), prepare(2)], NOW).start.len(), 2);
        assert_eq!(flights.moves(vec![prepare(1), prepare(2)], NOW).start.len(), 0);
        // The run's stop waits until its preparation has reported.
        let moves = flights.moves(vec![stop(1), prepare(2)], NOW);
        assert!(moves.start.is_empty());
        flights.ended(&prepare(1).key(), false, NOW);
        assert_eq!(flights.moves(vec![stop(1), prepare(2)], NOW).start, [stop(1)]);
    }

    #[test]
    fn what_is_no_longer_owed_is_cancelled_once_and_stays_in_flight_until_it_reports() {
        let mut flights = Flights::default();
        flights.moves(vec![prepare(1)], NOW);
        assert_eq!(flights.moves(vec![], NOW).cancel, [prepare(1).key()]);
        assert_eq!(flights.moves(vec![], NOW).cancel, []);
        assert!(flights.has(&prepare(1).key()) && !flights.is_idle());
        // Wanted again before it has reported: it is told to stop all the same, and begins anew afterwards.
        assert!(flights.moves(vec![prepare(1)], NOW).start.is_empty());
        flights.ended(&prepare(1).key(), true, NOW);
        let again = flights.moves(vec![prepare(1)], NOW).look_again.expect("it rests");
        assert_eq!(flights.moves(vec![prepare(1)], again).start, [prepare(1)]);
    }

    #[test]
    fn a_worktree_that_is_being_made_when_the_swarm_ends_is_cut_short_and_nothing_else_is() {
        let mut state = State::default();
        let check = |state: &State, wanted: [bool; 2]| {
            let keys = [prepare(1).key(), work(1, WorkOrder::Drain).key()];
            assert_eq!(keys.map(|key| is_cut_short(state, &key)), wanted);
        };
        check(&state, [false, false]);
        state.draining = true;
        check(&state, [true, false]);
    }

    #[test]
    fn a_new_order_starts_nothing_and_is_told_once() {
        let mut flights = Flights::default();
        flights.moves(vec![work(1, WorkOrder::Hold)], NOW);
        let moves = flights.moves(vec![work(1, WorkOrder::Drain)], NOW);
        assert_eq!((moves.change, moves.start.len()), (vec![work(1, WorkOrder::Drain)], 0));
        assert!(flights.moves(vec![work(1, WorkOrder::Drain)], NOW).change.is_empty());
    }

    #[test]
    fn an_effect_that_failed_is_asked_for_again_later_and_later_but_within_a_bound() {
        let (mut now, mut flights) = (NOW, Flights::default());
        let mut pauses = Vec::new();
        for _ in 0..12 {
            assert_eq!(flights.moves(vec![prepare(1)], now).start.len(), 1);
            flights.ended(&prepare(1).key(), true, now);
            let moves = flights.moves(vec![prepare(1)], now);
            assert!(moves.start.is_empty());
            let until = moves.look_again.expect("a time to look again");
            pauses.push(until.0 - now.0);
            now = until;
        }
        assert_eq!(pauses[..4], [200, 400, 800, 1600]);
        assert_eq!(pauses[8..], [REST_MAX_MS; 4]);
    }

    #[test]
    fn an_effect_that_did_what_was_owed_does_not_rest_when_it_is_owed_anew() {
        let mut flights = Flights::default();
        flights.moves(vec![prepare(1)], NOW);
        flights.ended(&prepare(1).key(), true, NOW);
        // It was not owed for a moment: what comes then is a new matter.
        flights.moves(vec![], NOW);
        assert_eq!(flights.moves(vec![prepare(1)], NOW).start, [prepare(1)]);
        flights.ended(&prepare(1).key(), false, NOW);
        assert_eq!(flights.moves(vec![prepare(1)], NOW).start, [prepare(1)]);
    }
}
