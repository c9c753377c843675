//! An agent that goes round in circles or is silent: noted, then told so once within the attempt at the
//! beginning of its next iteration; the second time its attempt is over.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure};
use swarm_protocol::ids::RunId;

use super::work::Live;
use crate::limits::NOTES_MAX;
use crate::state::{Run, State};

/// The word for the next iteration, when this is the first time.
pub(super) fn nudge(state: &State, l: &Live<'_>, iteration: u32, failure: &Failure) -> Option<Event> {
    let helps = matches!(failure.class.consequence(), Consequence::Loop | Consequence::Silence);
    if !helps || l.record.nudged || iteration >= state.policy.max_iterations {
        return None;
    }
    Some(Event::AgentNudged {
        task: l.id.clone(),
        run: l.run.clone(),
        iteration,
        class: failure.class,
        why: crate::text::tail(&failure.sentence()),
    })
}

/// A line of the history. The same one of the same attempt is written once: reports come twice.
pub(super) fn noted(state: &State, run: &RunId, text: String) -> Vec<Event> {
    state.current_run(run).map_or_else(Vec::new, |record| once(record, run, &text))
}

/// What an agent learned, once; the files that prompts tell it from are the engine's.
pub(super) fn learned(state: &State, run: &RunId, signal: String, text: &str) -> Vec<Event> {
    let Some(record) = state.current_run(run) else { return vec![] };
    let text = crate::text::tail(text);
    if record.noted.len() >= NOTES_MAX || record.noted.contains(&Run::learning(&signal, &text)) {
        return vec![];
    }
    vec![Event::Signal { task: record.task.clone(), run: run.clone(), signal, text }]
}

/// What is left of an ended attempt resists: asked for again until it works, and a person is told each reason once.
pub(super) fn not_stopped(state: &State, run: &RunId, why: &str) -> Vec<Event> {
    let ended = state.runs.get(run).filter(|record| record.ended);
    ended.map_or_else(Vec::new, |record| once(record, run, why))
}

fn once(record: &Run, run: &RunId, text: &str) -> Vec<Event> {
    let what = crate::text::tail(text);
    if record.noted.len() >= NOTES_MAX || record.noted.contains(&what) {
        return vec![];
    }
    vec![Event::AgentNoted { task: record.task.clone(), run: run.clone(), what }]
}
