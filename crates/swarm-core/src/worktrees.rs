//! Worktrees on their way out or back, and checkouts that are waited for.

use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::PauseReason;

use crate::effect::Effect;
use crate::stage::Stage;
use crate::state::{State, Task};

/// Tasks whose worktree is given up or brought back.
pub fn on_the_way(state: &State) -> impl Iterator<Item = &TaskId> {
    state.index.loose().filter(|id| {
        let owed = state.task(id).and_then(|task| owed(state, id, task));
        matches!(owed, Some(Effect::Remove { .. } | Effect::Revive { .. }))
    })
}

/// What is owed to a task without a run.
pub fn owed(state: &State, id: &TaskId, task: &Task) -> Option<Effect> {
    match &task.stage {
        // Whoever carries it out is at it, or was: it ends, and what lay there is brought back.
        _ if task.leaving => {
            let remember = task.left.is_none().then_some(task.cancelled);
            Some(Effect::Remove { task: id.clone(), remember, merged: None })
        }
        Stage::Approved { waits: Some(waits), .. } if !state.draining && task.left.is_none() => {
            Some(Effect::Watch { task: id.clone(), paths: waits.paths.clone() })
        }
        Stage::Done { .. } | Stage::Cancelled => {
            // Nothing is taken from under a process, nor while the trunk may still be at it.
            let in_use = state.has_run(id) || state.trunk_held_by.as_ref() == Some(id);
            // What was left before stays what is left.
            let remember = (task.stage == Stage::Cancelled && task.left.is_none()).then_some(task.cancelled);
            let merged = task.handed_in.clone().filter(|_| task.stage != Stage::Cancelled);
            (!in_use).then(|| Effect::Remove { task: id.clone(), remember, merged })
        }
        // What an abort has put away comes back when the swarm goes on.
        _ if state.paused.contains_key(&PauseReason::Abort) => None,
        // An operation would wait for it, and a person is asked already: it is tried on afterwards.
        _ if task.not_back().is_some() && state.ops.running.is_some() => None,
        _ => task.left.clone().map(|left| Effect::Revive { task: id.clone(), left }),
    }
}
