//! What becomes of work whose checks have run.

use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{Oid, RunId};
use swarm_protocol::outcome::{Ended, Gate};
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use super::work::{give_up, live};
use super::{base, budget, empty, message, same};
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::{State, Task};

pub(super) struct Checked {
    pub iteration: u32,
    pub passed: bool,
    pub tip: Oid,
    pub tree: Oid,
    pub output: String,
    pub gate: Option<Gate>,
}

pub(super) fn checked(state: &State, run: &RunId, checked: Checked, now: Timestamp) -> Vec<Event> {
    let Some(l) = live(state, run) else { return vec![] };
    let Stage::Checking { iteration, tip, .. } = &l.task.stage else { return vec![] };
    if checked.iteration != *iteration {
        return vec![];
    }
    let (task, run) = (l.id.clone(), run.clone());
    // There has to be another iteration for it to be told in.
    let last = *iteration >= state.policy.max_iterations;
    let empty =
        checked.passed && checked.tip == *tip && !last && empty_for_the_first_time(state, l.task, tip);
    if checked.passed && checked.tip == *tip && !empty {
        if let Some(reopened) = message::reopens_checked(state, &l, *iteration) {
            return vec![reopened];
        }
        let Checked { tip, tree, .. } = checked;
        let reviewed = reviewer(state, l.task) != Reviewer::None;
        let passed = Event::ChecksPassed {
            task: task.clone(),
            run: run.clone(),
            tip: tip.clone(),
            tree: tree.clone(),
        };
        let next = if reviewed {
            Event::ReviewAsked { task: task.clone(), status: Status::Review, tip, tree }
        } else {
            super::review::approved(task.clone(), tip, tree, "none")
        };
        return vec![passed, next, Event::AgentCompleted { task, run, agent: l.agent.clone() }];
    }
    let output = if empty {
        empty::TOLD.to_owned()
    } else if checked.passed {
        format!("the branch moved from {} to {} while it was checked", tip.short(), checked.tip.short())
    } else {
        crate::text::tail(&checked.output)
    };
    let digest = (empty || !checked.passed).then(|| same::digest(&output));
    // Checks that fail need no word: they always did.
    let gate = checked.gate.filter(|gate| *gate == Gate::Scan && !checked.passed);
    let counts = digest.as_ref().filter(|_| !empty);
    let alike = counts.and_then(|digest| same::stops(state, l.task, (digest, gate), &output));
    let (status, iteration_now) = (Status::Active, *iteration);
    let failed_checks =
        Event::ChecksFailed { task, status, run, iteration: iteration_now, output, digest, gate };
    let mut events = vec![failed_checks];
    if let Some(next) = alike {
        let why = match gate {
            Some(_) => "its scan keeps finding the same",
            None => "its checks keep failing the same way",
        };
        events.push(super::leave(state, l.id, l.task, next, why));
    } else if last {
        let fails = if gate.is_some() { "scan still finds something" } else { "checks still fail" };
        let text = format!("{iteration} iterations and the {fails}");
        events.extend(give_up(state, &l, Ended::Timeout { text }, now));
    } else {
        events.extend(base::suspected(state, &l).filter(|_| !checked.passed));
        events.extend(budget::stops(state, &l, Usage::default(), now));
    }
    events
}

/// Nobody is asked to review nothing before its agent was told that it is nothing.
fn empty_for_the_first_time(state: &State, task: &Task, tip: &Oid) -> bool {
    let told = || task.same_failure.as_ref().is_some_and(|same| same.digest == same::digest(empty::TOLD));
    empty::is_untouched(task, tip) && reviewer(state, task) != Reviewer::None && !told()
}
