//! Which wishes would be accepted now. The core itself is asked, so that a screen is never wrong about it.

use swarm_protocol::api::ApiError;
use swarm_protocol::board::{AllowedView, Verb};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::{Mode, PauseReason};
use swarm_protocol::plan::TaskPatch;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::{ReviewNote, Verdict};
use swarm_protocol::time::Timestamp;

use crate::input::Input;
use crate::react;
use crate::stage::Stage;
use crate::state::State;

/// Every verb, those about this task too if one is named.
pub fn allowed(state: &State, task: Option<&TaskId>, now: Timestamp) -> Vec<AllowedView> {
    let of_task = task.into_iter().flat_map(|task| about_task(state, task, now));
    of_task.chain(about_swarm(state, now)).collect()
}

/// Whether the core would take this command.
pub(super) fn refusal(state: &State, command: Command, now: Timestamp) -> Option<Refusal> {
    let id = CommandId::new("look").expect("a plain word");
    let envelope = Envelope { id, by: "person:api".into(), command };
    react(state, Input::Command(envelope), now).err()
}

fn view(verb: Verb, refused: Option<Refusal>) -> AllowedView {
    AllowedView { verb, refused: refused.map(ApiError::from) }
}

fn about_task(state: &State, id: &TaskId, now: Timestamp) -> Vec<AllowedView> {
    let task = || id.clone();
    let tried = |verb, command| view(verb, refusal(state, command, now));
    // A change that no task has yet: what is refused is the edit, not this text.
    let patch = TaskPatch { description: Some("?".into()), ..TaskPatch::default() };
    let text = || "?".to_string();
    vec![
        tried(Verb::Start, Command::StartTasks { tasks: vec![task()] }),
        tried(Verb::Stop, Command::StopAgent { task: task() }),
        tried(Verb::Kill, Command::KillAgent { task: task() }),
        view(Verb::Redirect, redirect(state, id)),
        tried(Verb::Block, Command::BlockTask { task: task(), reason: text() }),
        tried(Verb::Unblock, Command::UnblockTask { task: task() }),
        tried(Verb::Edit, Command::EditTask { task: task(), patch }),
        tried(Verb::Message, Command::MessageAgent { task: task(), text: text() }),
        tried(Verb::Defer, Command::DeferTask { task: task() }),
        tried(Verb::Cancel, Command::CancelTask { task: task() }),
        tried(
            Verb::RollbackTask,
            Command::RollbackTask { task: task(), cascade: true, force: Force::default(), expect: None },
        ),
        view(Verb::Review, review(state, id, now)),
    ]
}

/// The candidates are the answer: without one there is nothing to be redirected to.
fn redirect(state: &State, id: &TaskId) -> Option<Refusal> {
    match super::choices(state, id) {
        Err(refusal) => Some(refusal),
        Ok(choices) if choices.is_empty() => {
            Some(Refusal::NothingToChange { what: "No other task is ready".into() })
        }
        Ok(_) => None,
    }
}

fn review(state: &State, id: &TaskId, now: Timestamp) -> Option<Refusal> {
    let verdict = match state.task(id).map(|task| &task.stage) {
        Some(Stage::Review { tip, .. }) => Verdict::Approve { tip: Oid::clone(tip), left_out: None },
        _ => Verdict::NeedsChanges { notes: vec![ReviewNote { text: "?".into(), ..ReviewNote::default() }] },
    };
    refusal(state, Command::Review { task: id.clone(), verdict }, now)
}

fn about_swarm(state: &State, now: Timestamp) -> Vec<AllowedView> {
    let tried = |verb, command| view(verb, refusal(state, command, now));
    let force = Force::default();
    let (why, user) = (String::new(), PauseReason::User);
    let mode = match state.mode() {
        Mode::SemiAuto => Mode::Autopilot,
        Mode::Autopilot => Mode::SemiAuto,
    };
    vec![
        tried(Verb::Pause, Command::Pause { reason: user, why, force: false }),
        tried(Verb::Resume, Command::Resume { reason: user }),
        tried(Verb::Mode, Command::SetMode { mode }),
        tried(Verb::Checkpoint, Command::MakeCheckpoint { name: None }),
        tried(Verb::RollbackSession, Command::Rollback { to: None, force, expect: None }),
        tried(Verb::Undo, Command::Undo { operation: None, partial: false, force, expect: None }),
        tried(Verb::Redo, Command::Redo { operation: None, force, expect: None }),
    ]
}
