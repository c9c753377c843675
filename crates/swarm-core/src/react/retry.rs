//! On after an abort or a failure, with the plan as it is.

use serde_json::Value;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{Fact, FactChange, Left, TaskPart};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{proof, task};
use crate::operation::plan::branch_ref;
use crate::stage::Stage;
use crate::state::operations::Record;
use crate::state::{State, Task};

/// Goes on after an abort, merges everything again that has gone, and tries again what failed.
pub(crate) fn retry(state: &State) -> Result<Outcome, Refusal> {
    state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    let again: Vec<Event> =
        state.tasks.iter().filter_map(|(id, found)| proof::merged_again(id, found)).collect();
    let failed = state.tasks.iter().filter(|(_, found)| is_tried_again(state, found));
    let failed: Vec<Event> = failed.map(|(id, _)| task::back_in_the_queue(id)).collect();
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
    let resumed = if aborted { after_abort(state) } else { vec![] };
    Ok(Outcome::new(resumed.into_iter().chain(again).chain(failed).collect(), answer.join("; ")))
}

/// The pause is over, and each open task goes on where the abort stopped it: the abort put away its branch and its
/// worktree, and what it recorded of them says what lies there again.
pub(super) fn after_abort(state: &State) -> Vec<Event> {
    let mut events = vec![Event::Resumed { reason: PauseReason::Abort }];
    let facts: Vec<FactChange> =
        state.tasks.iter().filter_map(|(id, task)| put_away(state, id, task)).collect();
    events.extend((!facts.is_empty()).then_some(Event::FactsSet { facts }));
    events
}

/// What the last abort took from an open task, as the fact that brings it back.
fn put_away(state: &State, id: &TaskId, task: &Task) -> Option<FactChange> {
    if task.left.is_some() || task.stage.is_closed() || matches!(task.stage, Stage::Approved { .. }) {
        return None;
    }
    let abort = state.ops.log.iter().rev().find(|record| is_abort(record))?;
    let before =
        |fact: &Fact| abort.facts.iter().flatten().find(|change| change.fact == *fact)?.before.as_ref();
    let oid = |value: &Value| Oid::new(value.as_str()?).ok();
    let tip = before(&Fact::Ref(branch_ref(id))).and_then(oid)?;
    let dirty = before(&Fact::Worktree(id.clone())).and_then(oid);
    let base = task.base.clone().unwrap_or_else(|| tip.clone());
    let after = serde_json::to_value(Left { base, tip, dirty }).ok();
    Some(FactChange { fact: Fact::Part(id.clone(), TaskPart::Left), before: None, after })
}

fn is_abort(record: &Record) -> bool {
    record.kind == "abort" && record.failed.is_none() && record.undone_by.is_none()
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
        ),
        _ => false,
    };
    failed && super::budget::task_is_spent(state, found).is_none()
}
