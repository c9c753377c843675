//! Reverts that conflict, as an operation climbs: an agent is asked, its answer is verified with the rest, and what it cannot
//! settle a person does.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure, Usage};
use swarm_protocol::ids::CommandId;
use swarm_protocol::time::Timestamp;

use super::quota;
use super::steps::{failed, running};
use crate::operation::{conflicts, resolver};
use crate::state::State;
use crate::state::operations::{Running, Step};
use crate::text::{first_paths, tail};

/// A revert does not fit, or what was made of it is red.
pub(super) struct Conflict {
    pub paths: Vec<String>,
    pub why: Option<String>,
    /// An agent could say what is to become of the files.
    pub asks: bool,
}

pub(super) fn conflict(state: &State, op: &CommandId, met: Conflict) -> Vec<Event> {
    let Some(running) = running(state, op).filter(|r| matches!(r.step, Step::Moving { .. })) else {
        return vec![];
    };
    let Conflict { paths, why, asks } = met;
    let asked = asks.then(|| asks_agent(state, running, &paths, why.as_deref())).flatten();
    asked.map_or_else(|| to_a_person(state, running, paths, why), |asked| vec![asked])
}

fn asks_agent(state: &State, running: &Running, paths: &[String], why: Option<&str>) -> Option<Event> {
    let (task, profile) = resolver(state, &running.request, running.asked)?;
    let (id, round, paths) = (running.id.clone(), running.asked + 1, first_paths(paths.to_vec()));
    Some(Event::ResolverStarted { task, id, profile, round, paths, why: why.map(tail) })
}

fn to_a_person(state: &State, running: &Running, paths: Vec<String>, why: Option<String>) -> Vec<Event> {
    let (conflicts, hint) = conflicts(state, &running.kind, &running.request, &paths);
    let why = why.map_or_else(String::new, |why| format!(", and {}", tail(&why)));
    failed(&running.id, format!("{conflicts}{why}; trunk is untouched"), hint, first_paths(paths))
}

/// What came of asking.
pub(super) struct Answered {
    /// Why it is of no use.
    pub why: Option<String>,
    pub failure: Option<Failure>,
    pub usage: Usage,
    /// Nobody is asked again.
    pub stopped: bool,
}

impl Answered {
    /// Nothing came of it.
    pub(super) fn without(why: Option<String>) -> Self {
        Self { why, failure: None, usage: Usage::default(), stopped: false }
    }
}

pub(super) fn answered(state: &State, op: &CommandId, answered: Answered, now: Timestamp) -> Vec<Event> {
    let Some(running) = running(state, op) else { return vec![] };
    let Step::Resolving { asked, .. } = &running.step else { return vec![] };
    let Answered { why, failure, usage, stopped } = answered;
    let why = why.or_else(|| failure.as_ref().map(Failure::sentence)).map(|why| tail(&why));
    let (task, id) = (asked.task.clone(), op.clone());
    let usage = (!usage.is_none()).then_some(usage);
    let mut events = vec![Event::ResolverEnded { task, id, usage, why: why.clone() }];
    let Some(why) = why else { return events };
    let failure = failure.map(|failure| (failure.class.consequence(), failure));
    // The allowance is used up: nobody else is sent there, and the swarm does not stand still until it is back.
    if let Some((Consequence::Quota, failure)) = &failure {
        events.push(quota::closed_by(state, &asked.task, &asked.profile, failure, now));
    }
    let again = match &failure {
        Some((Consequence::Quota | Consequence::Setup, _)) => None,
        _ if stopped => None,
        _ => asks_agent(state, running, &asked.paths, Some(&why)),
    };
    let why = format!("{} did not resolve it: {why}", asked.profile);
    match again {
        Some(again) => events.push(again),
        None => events.extend(to_a_person(state, running, asked.paths.clone(), Some(why))),
    }
    events
}

/// A coordinator died while the agent was asked: that was a try, so that nobody pays for ever.
pub(super) fn interrupted(state: &State, now: Timestamp) -> Vec<Event> {
    let Some(running) = &state.ops.running else { return vec![] };
    let why = Some("it was interrupted".to_string());
    answered(state, &running.id, Answered::without(why), now)
}
