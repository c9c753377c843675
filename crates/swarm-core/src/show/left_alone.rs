//! A swarm whose coordinator is gone without having said so: nothing starts, and nothing that ends is merged.

use swarm_protocol::view::AttentionView;

use crate::state::State;

/// For whoever knows that nobody coordinates; none where the swarm was stopped in good order, or nothing is left to do.
pub fn left_alone(state: &State) -> Option<AttentionView> {
    let open = state.plan.as_ref().is_some_and(|plan| !plan.closed);
    let unfinished = !state.runs.is_empty() || state.tasks.values().any(|task| !task.stage.is_closed());
    (state.running && open && unfinished).then(|| AttentionView {
        what: "Nobody coordinates".into(),
        since: state.at,
        why: "the coordinator ended without a word: nothing starts and nothing is merged; agents at work save their work and stop"
            .into(),
        commands: vec!["swarm run".into(), "swarm stop".into()],
        seen_by: None,
    })
}
