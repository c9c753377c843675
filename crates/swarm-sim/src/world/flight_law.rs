//! What begins is judged by what was seen here, and not by what the core remembers of it.

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::effect::{Effect, Key};
use swarm_protocol::time::Timestamp;

use super::executor::Executor;
use super::oracle::{Broken, broken};

/// An effect that failed rests so long the first time, and twice as long each time after that.
const REST_MS: u64 = 200;
/// It never waits longer than this.
const REST_MAX_MS: u64 = 30_000;

/// Effects that have ended and were owed all the same: when, and how often in a row.
#[derive(Debug, Clone, Default)]
pub struct FlightLaw {
    failed: BTreeMap<Key, (Timestamp, u32)>,
}

impl FlightLaw {
    /// An executor's last word is durable.
    pub fn ended(&mut self, key: &Key, still_owed: bool, now: Timestamp) {
        let times = self.failed.get(key).map_or(0, |(_, times)| times + 1);
        if still_owed {
            self.failed.insert(key.clone(), (now, times));
        } else {
            self.failed.remove(key);
        }
    }

    /// How often in a row it has ended in vain.
    pub fn failures(&self, key: &Key) -> u32 {
        self.failed.get(key).map_or(0, |(_, times)| times + 1)
    }

    /// What is not owed any more would be a new matter.
    pub fn owed(&mut self, keys: &BTreeSet<Key>) {
        self.failed.retain(|key, _| keys.contains(key));
    }

    pub fn may_begin(
        &self,
        effect: &Effect,
        executors: &BTreeMap<Key, Executor>,
        now: Timestamp,
    ) -> Result<(), Broken> {
        let (key, lane) = (effect.key(), effect.lane());
        if executors.contains_key(&key) {
            return Err(broken("an effect is in flight once", format!("{effect:?}")));
        }
        if let Some(other) = executors.values().find(|executor| executor.effect.lane() == lane) {
            let text = format!("{effect:?} begins beside {:?}", other.effect);
            return Err(broken("one effect at a time is at work in a lane", text));
        }
        match self.failed.get(&key) {
            Some((ended, times)) if now.0 - ended.0 < rest(*times) => {
                let text = format!("{effect:?} after {} ms, failure {}", now.0 - ended.0, times + 1);
                Err(broken("an effect that failed rests, longer each time", text))
            }
            _ => Ok(()),
        }
    }

    /// What is owed and was not begun waits for its lane or rests, and not for ever.
    pub fn may_wait(
        &self,
        effect: &Effect,
        executors: &BTreeMap<Key, Executor>,
        now: Timestamp,
    ) -> Result<(), Broken> {
        let lane = effect.lane();
        let rests = || self.failed.get(&effect.key()).is_some_and(|(ended, _)| now.0 < ended.0 + REST_MAX_MS);
        if executors.values().any(|executor| executor.effect.lane() == lane) || rests() {
            return Ok(());
        }
        Err(broken("what is owed begins", format!("{effect:?}")))
    }
}

fn rest(times: u32) -> u64 {
    (REST_MS << times.min(16)).min(REST_MAX_MS)
}
