//! Files that an agent asks for while it works, besides those of its task: at once or not at all. Nobody waits in the
//! middle of an iteration, where a slot and a session would wait with it.

use swarm_protocol::event::Event;
use swarm_protocol::ids::RunId;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::reservation::Overlap;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::reserve::taken;
use super::task::wrong;
use super::validate;
use crate::limits::RESERVED_GLOBS_MAX;
use crate::reservations::{TIME_IS_OVER, Wanted, in_the_way, is_over, of_task, shares_the_tree};
use crate::stage::Stage;
use crate::state::State;

/// Why the one that a task has ends: it goes on in a larger one.
const EXTENDED: &str = "its task asked for more files";

/// What the run's own task would have then. It keeps one reservation, so that whoever asks what a task has finds it whole.
pub(crate) fn more(
    state: &State,
    run: &RunId,
    globs: &[String],
    shared: bool,
    now: Timestamp,
) -> Result<Outcome, Refusal> {
    let record = state.current_run(run).ok_or_else(|| no_run(run))?;
    let task = state.task(&record.task).ok_or_else(|| no_run(run))?;
    let id = &task.spec.id;
    if !matches!(&task.stage, Stage::Active { run: current, .. } if current == run) {
        return Err(wrong(state, id, task, "given more files"));
    }
    validate::globs("The files to reserve", globs, RESERVED_GLOBS_MAX)?;
    // All files that nobody has would be everybody's wait.
    if let Some(wide) = globs.iter().find(|glob| is_wide(glob)) {
        let why = format!(
            "{wide:?} is too wide for an agent: begin with the name of a folder or a file, as in src/**"
        );
        return Err(Refusal::BadValue { what: "The files to reserve".into(), why });
    }
    if shares_the_tree(state, task) {
        // Its files were laid out in the tree for it before it began.
        let why =
            "a task in the shared tree has its files from the start; say in swarm_blocked which it needs too";
        return Err(Refusal::BadValue { what: "The files to reserve".into(), why: why.into() });
    }
    let before = of_task(state, id);
    let (mut files, mut also) =
        before.map(|(_, one)| (one.files.clone(), one.shared.clone())).unwrap_or_default();
    let list = if shared { &mut also } else { &mut files };
    let new: Vec<String> = globs.iter().filter(|glob| !list.contains(glob)).cloned().collect();
    if new.is_empty() {
        return Ok(Outcome::new(vec![], format!("Task {id} has {} already", globs.join(", "))));
    }
    list.extend(new.iter().cloned());
    let got = (files.len() + also.len()) as u64;
    if got > RESERVED_GLOBS_MAX as u64 {
        let (what, limit) = ("The files of the task".into(), RESERVED_GLOBS_MAX as u64);
        return Err(Refusal::TooLarge { what, limit, got });
    }
    let wanted = match shared {
        true => Wanted { files: &[], shared: &new },
        false => Wanted { files: &new, shared: &[] },
    };
    let over = |number: &u64| state.reservations.get(number).is_some_and(|one| is_over(state, one, now));
    let (ended, passed): (Vec<u64>, Vec<u64>) = in_the_way(state, Some(id), wanted).partition(over);
    if let Some(number) = passed.first().filter(|_| state.policy.overlap != Overlap::Warn) {
        return Err(taken(state, *number));
    }
    let mut beside = before.map(|(_, one)| one.beside.clone()).unwrap_or_default();
    beside.extend(passed.iter().filter(|number| !beside.contains(number)).copied().collect::<Vec<_>>());
    let released = |number: u64, why: &str| {
        let holder = state.reservations.get(&number).and_then(|one| one.task.clone());
        Event::ReservationReleased { task: holder, number, why: why.into() }
    };
    let mut events: Vec<Event> = ended.into_iter().map(|number| released(number, TIME_IS_OVER)).collect();
    events.extend(before.map(|(number, _)| released(number, EXTENDED)));
    let number = state.reservations_ever + 1;
    let mut answer = format!("Reserved {} for task {id} (reservation {number})", new.join(", "));
    if !passed.is_empty() {
        answer.push_str("; somebody else has reserved some of it too");
    }
    events.push(Event::ReservationGranted {
        task: Some(id.clone()),
        number,
        by: None,
        files,
        shared: also,
        secs: state.policy.reservation_secs,
        reason: None,
        beside,
    });
    Ok(Outcome::new(events, answer))
}

/// Whether it may mean files anywhere.
fn is_wide(glob: &str) -> bool {
    let first = glob.split('/').find(|part| !part.is_empty() && *part != ".").unwrap_or_default();
    first.is_empty() || first.contains(['*', '?', '[', '{', '\\'])
}

fn no_run(run: &RunId) -> Refusal {
    Refusal::NothingToChange { what: format!("Nobody works in run {run} any more") }
}
