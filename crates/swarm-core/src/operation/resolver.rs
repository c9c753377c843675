//! Whom to ask about reverts that neither fit what is on trunk nor are for rules: an agent, so often, where something looks at
//! what it says; then a person.

use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Force, Request};
use swarm_protocol::outcome::PauseReason;

use super::plan::{as_another, merged_itself};
use crate::state::State;

/// The task that is taken back, and the profile of the agent that is asked after it was `asked` times. None: a person is.
pub fn resolver(state: &State, request: &Request, asked: u32) -> Option<(TaskId, String)> {
    let policy = &state.policy;
    // A command that works without a coordinator drains from its first moment on, and was asked for this all the same.
    let told_to_stop = state.draining && policy.dispatch;
    // Nobody reviews what is taken back: an agent is believed only where the verification can contradict it.
    if asked >= policy.resolve_max || !policy.verifies || told_to_stop {
        return None;
    }
    let tasks = taken_back(state, request)?;
    // What a person made is a person's to take apart.
    let by_agent = |id: &TaskId| {
        merged_itself(state, id).is_empty() || state.task(id).is_some_and(|task| task.last_agent.is_some())
    };
    let first = state.task(tasks.first()?).filter(|_| tasks.iter().all(by_agent))?;
    // Whoever did the work is asked before whoever would do it now.
    let profile = first.worked_under.as_deref().unwrap_or_else(|| state.preferred_profile(first));
    let spent = state.paused.contains_key(&PauseReason::Budget);
    let open = state.quota_is_open(&state.quota_group(profile)) && !spent;
    open.then(|| (first.spec.id.clone(), profile.to_owned()))
}

/// The tasks whose work the request takes back; none: it sets back more than tasks, and trunk as a whole can be.
fn taken_back(state: &State, request: &Request) -> Option<Vec<TaskId>> {
    match request {
        Request::RollbackTask { tasks, .. } => Some(tasks.clone()),
        Request::Undo { operation, .. } => {
            match as_another(state.ops.record(operation)?, Force::default())? {
                Request::RollbackTask { tasks, .. } => Some(tasks),
                _ => None,
            }
        }
        _ => None,
    }
}
