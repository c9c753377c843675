//! On after an abort or a failure, with the plan as it is.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{proof, put_off, quota};
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{State, Task};

/// Goes on after an abort, merges everything again that has gone, and tries again what failed.
pub(crate) fn retry(state: &State) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let gone = state.tasks.iter().filter(|(_, found)| matches!(found.stage, Stage::Gone { .. }));
    let again: Vec<Event> = gone.filter_map(|(id, found)| again(id, found)).collect();
    let failed = state.tasks.iter().filter(|(_, found)| is_tried_again(state, found));
    let failed: Vec<Vec<Event>> = failed.map(|(id, found)| put_off::goes_on(state, id, found)).collect();
    let aborted = state.paused.contains_key(&PauseReason::Abort);
    let merged = match again.len() {
        0 => None,
        1 => Some("The work of 1 task is merged again".to_string()),
        n => Some(format!("The work of {n} tasks is merged again")),
    };
    let tried = match failed.len() {
        0 => None,
        1 => Some("1 task is tried again".to_string()),
        n => Some(format!("{n} tasks are tried again")),
    };
    let mut answer: Vec<String> = merged.into_iter().chain(tried).collect();
    if answer.is_empty() {
        if !aborted {
            let what = "No work failed, was rolled back or is gone".into();
            return Err(Refusal::NothingToChange { what });
        }
        answer.push("Resumed after the abort".into());
    }
    let resumed = aborted.then_some(Event::Resumed { reason: PauseReason::Abort });
    // Whoever tries again has put the key right, or wants to see.
    let opened = quota::refused_keys(state);
    Ok(Outcome::new(
        resumed.into_iter().chain(opened).chain(again).chain(failed.into_iter().flatten()).collect(),
        answer.join("; "),
    ))
}

fn again(id: &TaskId, found: &Task) -> Option<Event> {
    if planted::is(Bug::RetrySkips) {
        let (task, proof) = (id.clone(), found.stage.proof().cloned());
        let (status, why, block, was) = (Status::Done, None, None, None);
        return Some(Event::TaskStatusChanged { task, status, why, block, proof, was });
    }
    proof::merged_again(id, found)
}

/// It failed for a reason that may be gone. What a person has blocked, what is too large, spent or empty needs another word.
fn is_tried_again(state: &State, found: &Task) -> bool {
    let failed = match &found.stage {
        Stage::Failed { .. } | Stage::Timeout { .. } => true,
        Stage::Blocked { block, .. } => matches!(
            block,
            BlockKind::Retries
                | BlockKind::Setup
                | BlockKind::Review
                | BlockKind::Sandbox
                | BlockKind::Conflict
                | BlockKind::Reserved
        ),
        _ => false,
    };
    failed && super::budget::task_is_spent(state, found).is_none()
}
