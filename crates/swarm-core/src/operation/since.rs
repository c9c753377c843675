//! What has happened since an operation and stands in the way of its undo, though the fact may look as the operation left it.

use serde_json::Value;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Fact, FactChange, SavedStage, TaskPart};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::refusal::Changed;
use swarm_protocol::reservation::Reservation;

use crate::reservations;
use crate::stage::{MergeStep, Stage};
use crate::state::State;
use crate::state::operations::Record;

/// The pause that an abort makes.
pub(super) const ABORTED: Fact = Fact::Pause(PauseReason::Abort);

pub(super) fn in_the_way(state: &State, record: &Record, change: &FactChange) -> Option<Changed> {
    merged_since(state, record, change)
        .or_else(|| taken_since(state, change))
        .or_else(|| void_since(state, change))
        .or_else(|| publishing_since(state, change))
}

/// The command for something that no undo changes, but a look explains.
pub(super) fn to_look_at(state: &State, changed: &Changed) -> Option<String> {
    let id = changed.fact.task()?;
    let is = |words: Option<String>| words.as_ref() == Some(&changed.words);
    // Whoever wants it otherwise says so in the review.
    if is(void_now(state, &changed.fact)) {
        return Some(format!("swarm review show {id}"));
    }
    is(publishing_now(state, &changed.fact)).then(|| format!("swarm task show {id}"))
}

/// The pause of an abort holds back the merges of what was taken back. Once all of that is merged again there is nothing to
/// hold: to set the pause again would say that the session is aborted, and trunk would have all of it.
fn merged_since(state: &State, record: &Record, change: &FactChange) -> Option<Changed> {
    let comes_back = change.fact == ABORTED && change.before.is_some() && change.after.is_none();
    let merge = |r: &Record| r.kind == "merge" && r.seq > record.seq && r.undone_by.is_none();
    let merged = comes_back && state.ops.log.iter().any(merge);
    let holds = state.tasks.values().any(|task| matches!(task.stage, Stage::Approved { .. }));
    let words = "what the abort had taken back was merged again".into();
    (merged && !holds).then(|| Changed { fact: ABORTED, words, by: vec![] })
}

/// A reservation that would come back has come to its end meanwhile, or its files belong to somebody else.
fn taken_since(state: &State, change: &FactChange) -> Option<Changed> {
    let Fact::Reservation(_) = &change.fact else { return None };
    let back: Reservation = serde_json::from_value(change.before.clone()?).ok()?;
    let told = |words: &str| Some(Changed { fact: change.fact.clone(), words: words.into(), by: vec![] });
    let at_rest = |id: &TaskId| state.task(id).is_none_or(|task| task.stage.is_closed());
    if back.task.as_ref().is_some_and(at_rest) {
        return told("its task is not worked on any more");
    }
    if reservations::is_over(state, &back, state.at) {
        return told(reservations::TIME_IS_OVER);
    }
    let wanted = reservations::Wanted { files: &back.files, shared: &back.shared };
    let number = reservations::in_the_way(state, None, wanted).next()?;
    let holder = state.reservations.get(&number)?.holder();
    told(&format!("its files belong to {holder} now (reservation {number})"))
}

/// An approval that is void has no effect that could be taken back: what it was about is not what waits for a review now.
fn void_since(state: &State, change: &FactChange) -> Option<Changed> {
    let stage = |value: &Option<Value>| serde_json::from_value::<SavedStage>(value.clone()?).ok();
    let (Some(SavedStage::Review { .. }), Some(SavedStage::Approved { .. })) =
        (stage(&change.before), stage(&change.after))
    else {
        return None;
    };
    let words = void_now(state, &change.fact)?;
    Some(Changed { fact: change.fact.clone(), words, by: vec![] })
}

/// Why the approval of the task is void, while it waits for another one.
fn void_now(state: &State, fact: &Fact) -> Option<String> {
    let Fact::Part(id, TaskPart::Stage) = fact else { return None };
    let task = state.task(id).filter(|task| matches!(task.stage, Stage::Review { .. }))?;
    let how =
        if task.void_by_rule { "rules have resolved its conflicts" } else { "its branch has been changed" };
    task.void.as_ref()?;
    Some(format!("the approval of task {id} is void already: {how} since"))
}

/// Trunk may have moved already, and only the report is not here yet: an undo would say that the work is not there.
fn publishing_since(state: &State, change: &FactChange) -> Option<Changed> {
    let words = publishing_now(state, &change.fact)?;
    Some(Changed { fact: change.fact.clone(), words, by: vec![] })
}

fn publishing_now(state: &State, fact: &Fact) -> Option<String> {
    let Fact::Part(id, TaskPart::Stage) = fact else { return None };
    let Stage::Merging { step: MergeStep::Publishing { .. }, .. } = &state.task(id)?.stage else {
        return None;
    };
    Some(format!("the work of task {id} is on its way to trunk"))
}
