//! What has to hold when nothing happens any more.

use swarm_core::show;
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_protocol::ids::RunId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::time::Timestamp;

use super::{Broken, Oracle, broken};
use crate::world::coordinator::Coordinator;
use crate::world::truth::Truth;

/// All is quiet and nothing is left.
pub fn at_rest(
    oracle: &Oracle,
    c: &Coordinator,
    truth: &Truth,
    living: Option<&RunId>,
) -> Result<(), Broken> {
    let state = &c.state;
    let rule = "when faults stop everything comes to rest";
    if let Some((id, task)) = state.tasks.iter().find(|(_, t)| !t.stage.is_closed()) {
        return Err(broken(rule, format!("task {id} is {:?}", task.stage)));
    }
    if !state.runs.is_empty() || state.slots_taken() > 0 {
        return Err(broken(rule, format!("runs left: {:?}", state.runs)));
    }
    if let Some(task) = &state.trunk_held_by {
        return Err(broken(rule, format!("the trunk is held by {task}")));
    }
    if let Some(effect) = swarm_core::owed(state).iter().find(|effect| !effect.key().is_watch()) {
        return Err(broken(rule, format!("owed: {effect:?}")));
    }
    if let Some(run) = living {
        return Err(broken("no process is left", run.to_string()));
    }
    for task in truth.worktrees.keys() {
        if state.tasks.get(task).is_none_or(|t| t.kept.is_none()) {
            return Err(broken("no worktree is left", task.to_string()));
        }
    }
    oracle.reserved.at_rest()?;
    let silent = |t: &swarm_core::state::Task| t.messages.iter().any(|m| m.waits());
    if let Some((id, _)) = state.tasks.iter().find(|(_, task)| silent(task)) {
        return Err(broken("a message lands, or its sender is told that it did not", id.to_string()));
    }
    for (id, task) in &state.tasks {
        if let Stage::Done { proof: Some(proof) } = &task.stage {
            oracle.proven(proof, truth).map_err(|b| broken(b.rule, format!("{id}: {}", b.text)))?;
        }
    }
    Ok(())
}

/// Where nothing moves and nothing will by itself, a person is told what is waited for. Who paused by hand knows.
pub fn stands_still(state: &State, now: Timestamp) -> Result<(), Broken> {
    let open: Vec<_> = state.tasks.iter().filter(|(_, task)| !task.stage.is_closed()).collect();
    let moves = !state.running
        || state.draining
        || !state.runs.is_empty()
        || state.trunk_held_by.is_some()
        || swarm_core::wakes_at(state, now).is_some()
        || swarm_core::owed(state).iter().any(|effect| !effect.key().is_watch());
    if open.is_empty() || moves || state.paused.contains_key(&PauseReason::User) {
        return Ok(());
    }
    match show::attention(state).is_empty() {
        false => Ok(()),
        true => {
            let stages: Vec<String> =
                open.iter().map(|(id, task)| format!("{id} {:?}", task.stage)).collect();
            Err(broken("whatever stands still says why", stages.join(", ")))
        }
    }
}
