//! The ways on after an abort or a failure.

use swarm_protocol::view::RetryOptions;

use crate::state::State;

/// Each of them works in this state: the retry has been asked for, and a fresh start knows what for. None: there is nothing
/// to try again.
pub fn retry_options(state: &State) -> Option<RetryOptions> {
    let plan = state.plan.as_ref().filter(|plan| !plan.closed)?;
    crate::react::retry(state).ok()?;
    let has_goal = !plan.goal.trim().is_empty();
    Some(RetryOptions {
        same_plan: "swarm run --retry".into(),
        edit_plan: "swarm run --retry --edit".into(),
        fresh_start: if has_goal { "swarm run --fresh" } else { "swarm run --fresh --plan FILE" }.into(),
    })
}
