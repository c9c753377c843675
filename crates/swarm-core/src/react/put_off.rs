//! Work that was handed in and put off: it goes on where it was and is not done again.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::SavedStage;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};

use super::task::back_in_the_queue;
use crate::stage::Stage;
use crate::state::{State, Task, saved};

/// What lets a task go on that waits for a word: where it was put off, or in the queue.
pub(super) fn goes_on(state: &State, id: &TaskId, task: &Task) -> Vec<Event> {
    match put_off(state, task) {
        Some(_) if hears_first(state, task) => {
            let (status, why) = (Status::Pending, "a message came after the work was put off".into());
            let reopened = Event::WorkReopened { task: id.clone(), status, run: None, iteration: 0, why };
            let work = super::conflict::lies_there_again(task, id);
            std::iter::once(reopened).chain(work).collect()
        }
        Some(SavedStage::Gone { .. }) => {
            vec![super::proof::merged_again(id, task).unwrap_or_else(|| back_in_the_queue(id))]
        }
        Some(was) => vec![as_it_was(id.clone(), was.clone())],
        None => vec![back_in_the_queue(id)],
    }
}

/// Whether a word waits that no prompt contained: one more iteration before the merge, as for work that was not put off.
pub(crate) fn hears_first(state: &State, task: &Task) -> bool {
    let was = put_off(state, task);
    matches!(was, Some(SavedStage::Review { .. } | SavedStage::Approved { .. }))
        && task.messages.iter().any(|message| message.waits())
}

/// The stage that work which was handed in was put off in.
pub(crate) fn put_off<'a>(state: &State, task: &'a Task) -> Option<&'a SavedStage> {
    task.was.as_ref().filter(|_| task.parts.is_empty() && !wants_changes(state, task))
}

/// The reviewer has spoken, and its rounds are spent: it is the work that must change.
fn wants_changes(state: &State, task: &Task) -> bool {
    matches!(task.stage, Stage::Blocked { block: BlockKind::Review, .. })
        && task.review_rounds >= state.policy.review_rounds
}

fn as_it_was(task: TaskId, was: SavedStage) -> Event {
    let (status, why) = (was.status(), "it goes on where it was put off".into());
    Event::TaskRestored { task, status, why, stage: Some(was), waived: None, saved: None }
}

/// Whether a person says for how long: nothing about the work itself was found wanting.
pub(super) fn puts_off(next: &Next) -> bool {
    matches!(next, Next::Deferred | Next::Blocked { block: BlockKind::Human, .. })
}

/// Work that was handed in, or was merged and has gone, is not done again because a person put the task off for a while.
pub(super) fn handed_in(state: &State, task: &Task) -> Option<SavedStage> {
    if matches!(task.stage, Stage::Blocked { .. } | Stage::Deferred) {
        return task.was.clone().filter(|_| !wants_changes(state, task));
    }
    let was = saved::stage(task);
    let stays = |was: &SavedStage| match was {
        SavedStage::Review { .. } | SavedStage::Approved { .. } => true,
        SavedStage::Gone { work, .. } => work.is_some(),
        _ => false,
    };
    Some(was).filter(stays)
}
