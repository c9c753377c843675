//! Whether ready tasks start by themselves, and letting them start where they do not.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::Mode;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{task, validate};
use crate::stage::Stage;
use crate::state::State;

pub(super) fn set_mode(state: &State, mode: Mode) -> Result<Outcome, Refusal> {
    if state.mode() == mode && (state.mode.is_some() || state.running) {
        let what = format!("The mode is {} already", mode.word());
        return Err(Refusal::NothingToChange { what });
    }
    let answer = match mode {
        Mode::Autopilot => "Autopilot: ready tasks start by themselves",
        Mode::SemiAuto => "Semi-auto: ready tasks wait for `swarm task start`",
    };
    Ok(Outcome::new(vec![Event::ModeChanged { mode }], answer))
}

/// Lets these tasks start; all that are pending when none is named.
pub(super) fn start(state: &State, named: Vec<TaskId>) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let wanted = if named.is_empty() {
        state.tasks_in_order().filter(|t| pending(&t.stage)).map(|t| t.spec.id.clone()).collect()
    } else {
        named
    };
    for id in &wanted {
        let found = validate::known(state, id)?;
        if !pending(&found.stage) {
            return Err(task::wrong(state, id, found, "started"));
        }
    }
    if state.running && state.mode() == Mode::Autopilot {
        return Err(Refusal::NothingToChange { what: "Every ready task starts by itself".into() });
    }
    let mut starts: Vec<TaskId> = Vec::new();
    for id in wanted {
        if state.task(&id).is_some_and(|t| !t.started) && !starts.contains(&id) {
            starts.push(id);
        }
    }
    let answer = match starts.as_slice() {
        [] => return Err(Refusal::NothingToChange { what: "No pending task waits to be started".into() }),
        [one] => format!("Task {one} is started"),
        several => format!("{} tasks are started", several.len()),
    };
    Ok(Outcome::new(starts.into_iter().map(|task| Event::TaskStarted { task }).collect(), answer))
}

fn pending(stage: &Stage) -> bool {
    matches!(stage, Stage::Pending { .. })
}
