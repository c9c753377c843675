//! What the swarm does after an operation: work resumes in the mode it was in, and a person should know it before.

use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Plan, SavedStage};
use swarm_protocol::outcome::Mode;

use crate::state::State;

/// Tasks named in a line.
const NAMED_MAX: usize = 5;

/// The tasks that start again by themselves. None: nothing does before somebody says so.
pub fn said(state: &State, plan: &Plan) -> Option<String> {
    if state.mode() != Mode::Autopilot || !state.paused.is_empty() {
        return None;
    }
    let starts = |stage: &SavedStage| matches!(stage, SavedStage::Pending { withheld: false, .. });
    let was_open = |id: &TaskId| {
        state
            .task(id)
            .is_some_and(|task| matches!(crate::state::saved::stage(task), SavedStage::Pending { .. }))
    };
    let again: Vec<&str> = plan
        .tasks
        .iter()
        .filter(|(id, was)| starts(&was.stage) && !was_open(id))
        .map(|(id, _)| id.as_str())
        .collect();
    let named = again.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = again.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!again.is_empty()).then(|| format!("autopilot starts {named}{more} again; `swarm pause` holds it"))
}
