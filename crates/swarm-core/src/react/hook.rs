//! A hook has ended: what it was to stand before goes on, or is refused.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::HookOutcome;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;

use super::conflict::lies_there_again;
use super::intervene::broken_off;
use crate::stage::Stage;
use crate::state::State;
use crate::state::operations::HookRun;
use crate::text::tail;

/// A hook ended. One that stands before something may refuse it.
pub(super) fn ended(state: &State, n: u64, outcome: HookOutcome, output: String) -> Vec<Event> {
    let Some(hook) = state.ops.hooks.get(&n).filter(|h| h.started.is_some()) else { return vec![] };
    let output = tail(&output);
    let refuses = hook.blocking && outcome != HookOutcome::Ok;
    let mut events = vec![Event::HookEnded { hook: hook.hook.clone(), n, outcome, output: output.clone() }];
    if refuses {
        events.extend(refused(state, hook, &output));
    }
    events
}

fn refused(state: &State, hook: &HookRun, output: &str) -> Vec<Event> {
    let Some(id) = hook.subject.as_deref().and_then(|id| TaskId::new(id).ok()) else { return vec![] };
    let Some(task) = state.task(&id) else { return vec![] };
    let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    let why = format!("the hook {} refused: {}", hook.hook, last.trim());
    let next = Next::Blocked { block: BlockKind::Setup, why: why.clone() };
    match (hook.hook.as_str(), &task.stage) {
        ("pre-start", Stage::Active { run, .. } | Stage::Checking { run, .. })
            if hook.run.as_ref() == Some(run) =>
        {
            vec![broken_off(state, &id, task, next, &why)]
        }
        ("pre-merge", Stage::Merging { .. }) if state.trunk_held_by.as_ref() == Some(&id) => {
            let work = lies_there_again(task, &id);
            let (status, paths) = (next.status(), vec![]);
            let failed = Event::MergeFailed { task: id, status, why, paths, next, was: None };
            std::iter::once(failed).chain(work).collect()
        }
        _ => vec![],
    }
}
