//! Whether ready tasks start by themselves, and letting them start where they do not.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::Status;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{task, validate};
use crate::stage::Stage;
use crate::state::{State, Task};

pub(super) fn set_mode(state: &State, mode: Mode) -> Result<Outcome, Refusal> {
    if state.mode() == mode && (state.mode.is_some() || state.running) {
        let what = format!("The mode is {} already", mode.word());
        return Err(Refusal::NothingToChange { what });
    }
    let answer = match mode {
        Mode::Autopilot => "Autopilot: ready tasks start automatically",
        Mode::SemiAuto => "Semi-auto: ready tasks wait for `swarm task start`",
    };
    Ok(Outcome::new(vec![Event::ModeChanged { mode }], answer))
}

/// Lets these tasks start; without a name all that are ready now and wait for it.
pub(super) fn start(state: &State, named: Vec<TaskId>) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    if named.is_empty() {
        return start_ready(state);
    }
    let mut starts: Vec<TaskId> = Vec::new();
    for id in named {
        let found = validate::known(state, &id)?;
        if !matches!(found.stage, Stage::Pending { .. }) {
            return Err(not_startable(state, &id, found));
        }
        if waits_for_a_word(state, found) && !starts.contains(&id) {
            starts.push(id);
        }
    }
    if starts.is_empty() {
        return Err(nothing_waits(state, "No pending task waits to be started"));
    }
    let answer = match starts.as_slice() {
        [one] => format!("Task {one} is started"),
        several => format!("{} tasks are started", several.len()),
    };
    let later: Vec<String> = starts.iter().filter_map(|id| later(state, id)).collect();
    let answer = match later.as_slice() {
        [] => answer,
        later => format!("{answer}; {}", later.join(", ")),
    };
    Ok(started(starts, answer))
}

/// Whoever starts what runs already wants it to run: the way on is a look at it, not its end.
fn not_startable(state: &State, id: &TaskId, found: &Task) -> Refusal {
    match found.stage.status() {
        status @ Status::Active => Refusal::WrongStatus {
            task: id.clone(),
            status,
            wanted: status.word().into(),
            instead: vec![format!("swarm task show {id}")],
        },
        _ => task::wrong(state, id, found, "started"),
    }
}

/// What is not ready keeps waiting for a word of its own: that is what the mode is for.
fn start_ready(state: &State) -> Result<Outcome, Refusal> {
    let waits = |id: &&TaskId| state.task(id).is_some_and(|task| waits_for_a_word(state, task));
    let starts: Vec<TaskId> = state.index.queue().filter(waits).cloned().collect();
    let not_ready = state.tasks_in_order().filter(|t| matches!(t.stage, Stage::Pending { .. }));
    let rest: Vec<String> = not_ready.filter_map(|t| waits_for(state, t)).collect();
    let rest = match rest.len() {
        0 => None,
        n => {
            let more = if n > REST_SHOWN { ", …" } else { "" };
            let shown = rest.into_iter().take(REST_SHOWN).collect::<Vec<_>>().join(", ");
            Some(format!("{n} not ready: {shown}{more}"))
        }
    };
    let answer = match starts.as_slice() {
        [] => {
            let what = match rest {
                Some(rest) => format!("No ready task waits to be started ({rest})"),
                None => "No ready task waits to be started".into(),
            };
            return Err(nothing_waits(state, &what));
        }
        [one] => format!("Task {one} is started"),
        several => format!("{} tasks are started", several.len()),
    };
    Ok(started(starts, rest.map_or(answer.clone(), |rest| format!("{answer}; {rest}"))))
}

/// Tasks that are named in an answer as not ready yet.
const REST_SHOWN: usize = 5;

fn started(starts: Vec<TaskId>, answer: String) -> Outcome {
    Outcome::new(starts.into_iter().map(|task| Event::TaskStarted { task }).collect(), answer)
}

fn waits_for_a_word(state: &State, task: &Task) -> bool {
    task.withheld.is_some() || (!task.started && !starts_by_itself(state))
}

fn starts_by_itself(state: &State) -> bool {
    state.running && state.mode() == Mode::Autopilot
}

fn nothing_waits(state: &State, what: &str) -> Refusal {
    let what = if starts_by_itself(state) { "Every ready task starts automatically" } else { what };
    Refusal::NothingToChange { what: what.into() }
}

/// `1.3 waits for 1.1`, for a task whose dependencies are not done.
pub(super) fn waits_for(state: &State, task: &Task) -> Option<String> {
    let unmet = state.unmet(task);
    let names: Vec<&str> = unmet.iter().map(|id| id.as_str()).collect();
    (!names.is_empty()).then(|| format!("{} waits for {}", task.spec.id, names.join(" and ")))
}

/// A task that was named before it is ready begins when it is.
fn later(state: &State, id: &TaskId) -> Option<String> {
    let unmet = state.unmet(state.task(id)?);
    let names: Vec<&str> = unmet.iter().map(|id| id.as_str()).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{id} begins when {} {verb} done", names.join(" and ")))
}
