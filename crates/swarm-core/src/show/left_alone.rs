//! A swarm whose coordinator is gone without having said so: nothing starts, and nothing that ends is merged.

use swarm_protocol::view::AttentionView;

use crate::state::State;

/// For whoever knows that nobody coordinates; none where the swarm was stopped in good order, or nothing is left to do.
pub fn left_alone(state: &State) -> Option<AttentionView> {
    let open = state.plan.as_ref().is_some_and(|plan| !plan.closed);
    let at_work = !state.runs.is_empty();
    let unfinished = at_work || state.tasks.values().any(|task| !task.stage.is_closed());
    let agents = if at_work { "; agents that still work save their work and stop" } else { "" };
    // Where nobody is at work there is nothing to stop.
    let stop = at_work.then(|| "swarm stop".to_owned());
    (state.running && open && unfinished).then(|| AttentionView {
        what: "No coordinator is running".into(),
        since: state.at,
        why: format!("it ended unexpectedly: nothing starts and nothing is merged{agents}"),
        commands: std::iter::once("swarm run".to_owned()).chain(stop).collect(),
        seen_by: None,
    })
}
