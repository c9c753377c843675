//! What only a running process knows, and forgets with it.

use std::collections::BTreeMap;

use super::float;
use super::page::{Histogram, Page, QUICK, SLOW};

/// Routes and codes that are told apart; a route is one that the API has, so there are fewer.
const ROUTES_MAX: usize = 512;

/// Counted since the process began.
#[derive(Debug, Clone)]
pub struct Live {
    /// From the decision to the disk.
    pub append: Histogram,
    pub effects: BTreeMap<&'static str, EffectTimes>,
    requests: BTreeMap<(String, u16), u64>,
    answers: BTreeMap<String, Histogram>,
    pub feed_clients: u64,
    pub feed_cuts: u64,
}

/// Of one kind of effect.
#[derive(Debug, Clone)]
pub struct EffectTimes {
    pub in_flight: u64,
    pub seconds: Histogram,
}

impl Default for EffectTimes {
    fn default() -> Self {
        Self { in_flight: 0, seconds: Histogram::new(SLOW) }
    }
}

impl Default for Live {
    fn default() -> Self {
        Self {
            append: Histogram::new(QUICK),
            effects: BTreeMap::new(),
            requests: BTreeMap::new(),
            answers: BTreeMap::new(),
            feed_clients: 0,
            feed_cuts: 0,
        }
    }
}

impl Live {
    /// `route`: as the API describes it, `/v1/tasks/{id}`; what it does not know has none.
    pub fn asked(&mut self, route: Option<&str>, code: u16, seconds: f64) {
        let key = (route.unwrap_or("none").to_owned(), code);
        if self.requests.len() < ROUTES_MAX || self.requests.contains_key(&key) {
            let answers = self.answers.entry(key.0.clone());
            answers.or_insert_with(|| Histogram::new(QUICK)).note(seconds);
            *self.requests.entry(key).or_default() += 1;
        }
    }

    pub(super) fn show(&self, page: &mut Page) {
        page.histogram("swarm_ledger_append_seconds", &[], &self.append);
        for (kind, times) in &self.effects {
            page.one("swarm_effects", &[("kind", kind)], float(times.in_flight));
        }
        for (kind, times) in &self.effects {
            page.histogram("swarm_effect_seconds", &[("kind", kind)], &times.seconds);
        }
        for ((route, code), many) in &self.requests {
            let labels = [("route", route.as_str()), ("code", &code.to_string())];
            page.one("swarm_http_requests_total", &labels, float(*many));
        }
        for (route, seconds) in &self.answers {
            page.histogram("swarm_http_seconds", &[("route", route)], seconds);
        }
        page.one("swarm_feed_clients", &[], float(self.feed_clients));
        page.one("swarm_feed_cuts_total", &[], float(self.feed_cuts));
    }
}
